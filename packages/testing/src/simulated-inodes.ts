// What is on the simulated disk: files and directories, each as programs see it and as a crash would leave it.

import type { Random } from '@odradek/runtime';

/** What a disk writes whole or not at all. */
export const sectorBytes = 512;

abstract class Inode {
  parent: SimulatedDirectory | undefined;
  name: string;
  modifiedMs = 0;
  /** Some directory's durable list has it. */
  isNameDurable = false;

  constructor(parent: SimulatedDirectory | undefined, name: string) {
    this.parent = parent;
    this.name = name;
  }

  /** Bytes of the file, or of all files below the directory. */
  abstract sizeBytes(): number;

  /** Keeps durable content only, and of the rest what `random` draws, if it is given. */
  abstract crash(random: Random | undefined): void;

  isLinked(): boolean {
    return this.parent === undefined || (this.parent.entries.get(this.name) === (this as Inode) && this.parent.isLinked());
  }

  /** Makes a new file's or directory's name durable, and those above it. */
  protected makeNameDurable(): void {
    for (let node: Inode = this; node.parent !== undefined && !node.isNameDurable && node.isLinked(); node = node.parent) {
      node.isNameDurable = true;
      node.parent.forceName(node as SimulatedDirectory | SimulatedFile);
    }
  }
}

type Node = SimulatedDirectory | SimulatedFile;

/** What one call did to the names of a directory: each name, and what it means now, if anything. */
type NameChange = ReadonlyMap<string, Node | undefined>;

export class SimulatedDirectory extends Inode {
  entries = new Map<string, Node>();
  /** As of the last sync. */
  #synced = new Map<string, Node>();
  /** Since then, in order. A crash leaves those before some moment, as a journal does. */
  #changes: NameChange[] = [];
  /** Names that became durable by the sync of their file; and how many changes there had been. */
  #forced: { readonly name: string; readonly node: Node; readonly changeCount: number }[] = [];

  sizeBytes(): number {
    let sum = 0;
    for (const node of this.entries.values()) {
      sum += node.sizeBytes();
    }
    return sum;
  }

  change(names: NameChange): void {
    apply(this.entries, names);
    this.#changes.push(names);
  }

  forceName(node: Node): void {
    this.#forced.push({ name: node.name, node, changeCount: this.#changes.length });
  }

  sync(): void {
    this.#settle();
    for (const node of this.entries.values()) {
      node.isNameDurable = true;
    }
    this.makeNameDurable();
  }

  crash(random: Random | undefined): void {
    this.entries = this.#after(random === undefined ? 0 : survivingChanges(this.#changes.length, random));
    this.#settle();
    for (const [name, node] of this.entries) {
      node.parent = this;
      node.name = name;
      node.isNameDurable = true;
      node.crash(random);
    }
  }

  #settle(): void {
    this.#synced = new Map(this.entries);
    this.#changes = [];
    this.#forced = [];
  }

  /** The names when so many of the changes have reached the device, and what was forced since. */
  #after(changeCount: number): Map<string, Node> {
    const names = new Map(this.#synced);
    for (const change of this.#changes.slice(0, changeCount)) {
      apply(names, change);
    }
    for (const forced of this.#forced.filter((each) => each.changeCount > changeCount)) {
      for (const [name, node] of names) {
        if (node === forced.node) {
          names.delete(name);
        }
      }
      names.set(forced.name, forced.node);
    }
    return names;
  }
}

function apply(names: Map<string, Node>, change: NameChange): void {
  for (const [name, node] of change) {
    if (node === undefined) {
      names.delete(name);
    } else {
      names.set(name, node);
    }
  }
}

/** None of them, all of them, or those before some moment. */
function survivingChanges(count: number, random: Random): number {
  const draw = random.next() * 3;
  return draw < 1 ? 0 : draw >= 2 ? count : Math.floor((draw - 1) * (count + 1));
}

export class SimulatedFile extends Inode {
  #content = Buffer.alloc(0);
  #size = 0;
  #durable = Buffer.alloc(0);
  #durableSize = 0;
  /** Sectors that differ, perhaps, between the two. */
  readonly #dirty = new Set<number>();

  get size(): number {
    return this.#size;
  }

  sizeBytes(): number {
    return this.#size;
  }

  read(target: Uint8Array, offset: number, length: number, position: number): number {
    const count = Math.max(0, Math.min(length, this.#size - position));
    target.set(this.#content.subarray(position, position + count), offset);
    return count;
  }

  /** Writes within the size. */
  write(bytes: Uint8Array, position: number): void {
    this.#content.set(bytes, position);
    this.#markDirty(position, position + bytes.byteLength);
  }

  /** Cuts the file, or lengthens it with zeros. */
  resize(size: number): void {
    this.#content = withCapacity(this.#content, size);
    if (size < this.#size) {
      this.#content.fill(0, size, this.#size);
    } else {
      this.#markDirty(this.#size, size);
    }
    this.#size = size;
  }

  sync(): void {
    this.#keepSectors(() => true);
    this.#durable.fill(0, this.#size, Math.max(this.#size, this.#durableSize));
    this.#durableSize = this.#size;
    this.makeNameDurable();
  }

  crash(random: Random | undefined): void {
    const size = random === undefined ? this.#durableSize : sizeAfterCrash(this.#durableSize, this.#size, random);
    if (random !== undefined) {
      this.#keepSectors(() => random.nextInt(2) === 0);
    }
    this.#durable = withCapacity(this.#durable, size);
    this.#durable.fill(0, size);
    this.#durableSize = size;
    this.#content = Buffer.from(this.#durable);
    this.#size = size;
    this.#dirty.clear();
  }

  flipBit(position: number, bit: number): void {
    this.#content[position]! ^= 1 << bit;
    if (position < this.#durableSize) {
      this.#durable[position]! ^= 1 << bit;
    }
  }

  #keepSectors(isKept: () => boolean): void {
    this.#durable = withCapacity(this.#durable, this.#content.byteLength);
    for (const sector of this.#dirty) {
      if (isKept()) {
        this.#content.copy(this.#durable, sector * sectorBytes, sector * sectorBytes, (sector + 1) * sectorBytes);
      }
    }
    this.#dirty.clear();
  }

  #markDirty(from: number, to: number): void {
    for (let sector = Math.floor(from / sectorBytes); sector * sectorBytes < to; sector++) {
      this.#dirty.add(sector);
    }
  }
}

/** The size that was last synced, the one that programs saw, or one between them that ends a sector. */
function sizeAfterCrash(durableSize: number, size: number, random: Random): number {
  const choice = random.nextInt(3);
  if (choice === 0 || size === durableSize) {
    return durableSize;
  }
  if (choice === 1) {
    return size;
  }
  const from = Math.min(size, durableSize);
  const between = from + random.nextInt(Math.abs(size - durableSize));
  return Math.max(from, Math.floor(between / sectorBytes) * sectorBytes);
}

/** The buffer, or a copy at least twice as large, with zeros behind what was there. */
function withCapacity(buffer: Buffer<ArrayBuffer>, size: number): Buffer<ArrayBuffer> {
  if (size <= buffer.byteLength) {
    return buffer;
  }
  const larger = Buffer.alloc(Math.max(size, buffer.byteLength * 2, sectorBytes));
  buffer.copy(larger);
  return larger;
}
