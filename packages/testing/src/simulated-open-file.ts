// A file of the simulated disk as a program holds it open. After a crash of the disk it is dead.

import type { OpenFile } from '@odradek/runtime';
import type { SimulatedDisk } from './simulated-disk.ts';
import type { SimulatedFile } from './simulated-inodes.ts';

export class SimulatedOpenFile implements OpenFile {
  readonly path: string;
  readonly #disk: SimulatedDisk;
  readonly #file: SimulatedFile;
  readonly #isWritable: boolean;
  /** The disk's life in which it was opened; -1 once it is closed. */
  #life: number;

  constructor(disk: SimulatedDisk, path: string, file: SimulatedFile, life: number, isWritable: boolean) {
    this.path = path;
    this.#disk = disk;
    this.#file = file;
    this.#life = life;
    this.#isWritable = isWritable;
  }

  sizeSync(): number {
    this.#disk.checkCall('read', this.path, this.#life);
    return this.#file.size;
  }

  readSync(target: Uint8Array, offset: number, length: number, position: number): number {
    this.#disk.checkCall('read', this.path, this.#life);
    return this.#file.read(target, offset, length, position);
  }

  read(target: Uint8Array, offset: number, length: number, position: number): Promise<number> {
    return this.#disk.later(() => this.readSync(target, offset, length, position));
  }

  writeSync(chunks: readonly Uint8Array[], position: number): void {
    this.#checkWritable();
    for (const chunk of chunks) {
      this.#disk.write(this.path, this.#file, chunk, position);
      position += chunk.byteLength;
    }
  }

  truncateSync(size: number): void {
    this.#checkWritable();
    this.#disk.resize(this.#file, size);
  }

  sync(): Promise<void> {
    return this.#disk.later(() => this.syncSync());
  }

  syncSync(): void {
    this.#disk.checkCall('sync', this.path, this.#life);
    this.#file.sync();
  }

  closeSync(): void {
    this.#life = -1;
  }

  #checkWritable(): void {
    this.#disk.checkCall('write', this.path, this.#isWritable ? this.#life : -1);
  }
}
