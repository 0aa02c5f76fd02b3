// A disk that counts what is read from it.

import type { FileSystem, OpenFile } from '@odradek/runtime';

export class CountedReads {
  readonly fileSystem: FileSystem;
  /** Calls. */
  count = 0;
  sizeBytes = 0;
  /** How many of those that do not block were under way at the same time. */
  mostAtOnce = 0;
  #underWay = 0;

  /** Counts in the files whose paths end so. */
  constructor(disk: FileSystem, ending = '') {
    this.fileSystem = overriding(disk, {
      openSync: (path, mode) => {
        const file = disk.openSync(path, mode);
        return path.endsWith(ending) ? this.#counting(file) : file;
      },
    });
  }

  #counting(file: OpenFile): OpenFile {
    return overriding(file, {
      readSync: (target, offset, length, position) => this.#counted(file.readSync(target, offset, length, position)),
      read: async (target, offset, length, position) => {
        this.#underWay += 1;
        this.mostAtOnce = Math.max(this.mostAtOnce, this.#underWay);
        try {
          return this.#counted(await file.read(target, offset, length, position));
        } finally {
          this.#underWay -= 1;
        }
      },
    });
  }

  #counted(sizeBytes: number): number {
    this.count += 1;
    this.sizeBytes += sizeBytes;
    return sizeBytes;
  }
}

/** The same object, but for some of its methods. */
function overriding<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
