// A simulated disk that fails for good at the n-th change, so that a crash can come between any two of them.

import type { FileSystem, OpenFile } from '@odradek/runtime';
import type { SimulatedDisk } from '@odradek/testing';

const changes = new Set([
  'openSync',
  'writeSync',
  'truncateSync',
  'sync',
  'syncSync',
  'replaceFileSync',
  'replaceFile',
  'setModifiedSync',
  'renameSync',
  'removeSync',
  'remove',
  'syncDirectorySync',
  'syncDirectory',
]);

export class FailingDisk {
  readonly fileSystem: FileSystem;
  readonly #disk: SimulatedDisk;
  #changesLeft = Number.POSITIVE_INFINITY;

  constructor(disk: SimulatedDisk) {
    this.#disk = disk;
    this.fileSystem = this.#counting<FileSystem>(disk);
  }

  get hasFailed(): boolean {
    return this.#changesLeft <= 0;
  }

  failAfter(changeCount: number): void {
    this.#changesLeft = changeCount;
  }

  #counting<T extends FileSystem | OpenFile>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...parameters: unknown[]): unknown => {
          if (changes.has(String(name))) this.#count();
          const result: unknown = Reflect.apply(value, target, parameters);
          return name === 'openSync' ? this.#counting(result as OpenFile) : result;
        };
      },
    });
  }

  #count(): void {
    this.#changesLeft -= 1;
    if (this.#changesLeft === 0) this.#disk.faults.add({ path: '/' });
  }
}
