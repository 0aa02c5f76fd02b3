// A file system that keeps only the headers of the batches that are written, and holes where their records would be: how logs of tens
// of gigabytes get onto a disk that has less. The log is none the wiser: segments, indexes, snapshots and checkpoints come of the
// same code, and have the same sizes and offsets. Whoever reads gets the right headers, and zeros for records.

import { type FileSystem, NodeFileSystem, type OpenFile } from '@odradek/runtime';

/** The header of a batch of magic 2. */
const headerBytes = 61;

export class SparseFiles {
  /** While it is off everything is written. */
  isOn = true;
  readonly fileSystem: FileSystem;

  constructor() {
    const whole: FileSystem = new NodeFileSystem();
    this.fileSystem = overriding(whole, {
      openSync: (path, mode) => {
        const file = whole.openSync(path, mode);
        return path.endsWith('.log') ? this.#sparse(file) : file;
      },
    });
  }

  #sparse(file: OpenFile): OpenFile {
    return overriding(file, {
      writeSync: (chunks, position) => {
        if (!this.isOn) {
          file.writeSync(chunks, position);
          return;
        }
        let at = position;
        for (const chunk of chunks) {
          file.writeSync([chunk.subarray(0, headerBytes)], at);
          at += chunk.byteLength;
        }
        file.truncateSync(at);
      },
    });
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
