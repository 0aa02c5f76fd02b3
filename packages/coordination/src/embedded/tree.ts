// The tree in memory: nodes and what one change does to them. It checks nothing about durability or sessions. A change
// either throws a CoordinationError and has done nothing, or is done and returns how to undo it.

import { CoordinationError, type NodeData, type NodeStat } from '../coordination.ts';
import { splitPath } from '../node-path.ts';

/** What the journal holds. Everything else about a node follows from these, the transaction's id and its time. */
export type Change =
  | { readonly type: 'create'; readonly path: string; readonly data: NodeData; readonly ephemeralOwner: bigint }
  | { readonly type: 'set'; readonly path: string; readonly data: NodeData }
  | { readonly type: 'delete'; readonly path: string };

export interface TransactionStamp {
  readonly zxid: number;
  readonly timeMs: number;
}

export interface TreeNode {
  data: NodeData;
  czxid: number;
  mzxid: number;
  pzxid: number;
  createdMs: number;
  modifiedMs: number;
  version: number;
  /** Children ever created; the next sequential child gets this number. */
  createdChildren: number;
  readonly ephemeralOwner: bigint;
  /** undefined until the first child comes: most nodes are leaves. */
  children: Map<string, TreeNode> | undefined;
}

export class Tree {
  readonly root: TreeNode = newNode(null, { zxid: 0, timeMs: 0 }, 0n);
  /** Paths of ephemeral nodes, which are few, with their owners. */
  readonly #ephemerals = new Map<string, bigint>();

  find(path: string): TreeNode | undefined {
    let node: TreeNode | undefined = this.root;
    for (let start = 1; start < path.length && node !== undefined; ) {
      const slash = path.indexOf('/', start);
      const end = slash === -1 ? path.length : slash;
      node = node.children?.get(path.slice(start, end));
      start = end + 1;
    }
    return node;
  }

  get(path: string): TreeNode {
    const node = this.find(path);
    if (node === undefined) throw new CoordinationError('NoNode', path);
    return node;
  }

  /** Fails unless the node is there and, with a version other than -1, has that version. */
  check(path: string, version: number): TreeNode {
    const node = this.get(path);
    if (version !== -1 && node.version !== version) {
      throw new CoordinationError('BadVersion', path, { detail: `it is ${node.version}, not ${version}` });
    }
    return node;
  }

  apply(change: Change, stamp: TransactionStamp): () => void {
    switch (change.type) {
      case 'create':
        return this.#create(change.path, newNode(change.data, stamp, change.ephemeralOwner));
      case 'set':
        return set(this.get(change.path), change.data, stamp);
      case 'delete':
        return this.#delete(change.path, stamp);
    }
  }

  #create(path: string, node: TreeNode): () => void {
    const { parentPath, name } = splitPath(path);
    const parent = this.find(parentPath);
    if (parent === undefined) throw new CoordinationError('NoNode', path, { detail: 'its parent does not exist' });
    if (parent.children?.has(name) === true) throw new CoordinationError('NodeExists', path);
    if (parent.ephemeralOwner !== 0n) throw new CoordinationError('NoChildrenForEphemerals', path);
    const { pzxid } = parent;
    parent.children ??= new Map();
    parent.children.set(name, node);
    parent.createdChildren++;
    parent.pzxid = node.czxid;
    if (node.ephemeralOwner !== 0n) this.#ephemerals.set(path, node.ephemeralOwner);
    return () => {
      this.#ephemerals.delete(path);
      parent.children?.delete(name);
      parent.createdChildren--;
      parent.pzxid = pzxid;
    };
  }

  #delete(path: string, stamp: TransactionStamp): () => void {
    const node = this.get(path);
    if (node === this.root) throw new CoordinationError('BadArguments', path, { detail: 'the root stays' });
    if (node.children !== undefined && node.children.size > 0) throw new CoordinationError('NotEmpty', path);
    const { parentPath, name } = splitPath(path);
    const parent = this.get(parentPath);
    const { pzxid } = parent;
    parent.children?.delete(name);
    parent.pzxid = stamp.zxid;
    this.#ephemerals.delete(path);
    return () => {
      if (node.ephemeralOwner !== 0n) this.#ephemerals.set(path, node.ephemeralOwner);
      parent.children ??= new Map();
      parent.children.set(name, node);
      parent.pzxid = pzxid;
    };
  }

  /** Paths of the ephemeral nodes of a session; of all sessions when none is given. */
  ephemeralPaths(owner?: bigint): string[] {
    return [...this.#ephemerals].filter(([, sessionId]) => owner === undefined || sessionId === owner).map(([path]) => path);
  }

  /** Puts a node in its place as it was written down; its parent is there already. */
  restore(path: string, node: TreeNode): void {
    const { parentPath, name } = splitPath(path);
    const parent = this.get(parentPath);
    parent.children ??= new Map();
    parent.children.set(name, node);
    if (node.ephemeralOwner !== 0n) this.#ephemerals.set(path, node.ephemeralOwner);
  }

  /** All nodes but the root, parents before children. */
  *nodes(): Iterable<{ readonly path: string; readonly node: TreeNode }> {
    const below = function* (prefix: string, parent: TreeNode): Iterable<{ path: string; node: TreeNode }> {
      for (const [name, node] of parent.children ?? []) {
        const path = `${prefix}/${name}`;
        yield { path, node };
        yield* below(path, node);
      }
    };
    yield* below('', this.root);
  }
}

function newNode(data: NodeData, { zxid, timeMs }: TransactionStamp, ephemeralOwner: bigint): TreeNode {
  return {
    data,
    czxid: zxid,
    mzxid: zxid,
    pzxid: zxid,
    createdMs: timeMs,
    modifiedMs: timeMs,
    version: 0,
    createdChildren: 0,
    ephemeralOwner,
    children: undefined,
  };
}

function set(node: TreeNode, data: NodeData, stamp: TransactionStamp): () => void {
  const before = { data: node.data, mzxid: node.mzxid, modifiedMs: node.modifiedMs };
  node.data = data;
  node.mzxid = stamp.zxid;
  node.modifiedMs = stamp.timeMs;
  node.version++;
  return () => {
    node.version--;
    Object.assign(node, before);
  };
}

export function statOf(node: TreeNode): NodeStat {
  const numChildren = node.children?.size ?? 0;
  return {
    czxid: node.czxid,
    mzxid: node.mzxid,
    pzxid: node.pzxid,
    createdMs: node.createdMs,
    modifiedMs: node.modifiedMs,
    version: node.version,
    // Creations and deletions: what was created and is not there was deleted.
    cversion: 2 * node.createdChildren - numChildren,
    aversion: 0,
    ephemeralOwner: node.ephemeralOwner,
    dataSize: node.data?.length ?? 0,
    numChildren,
  };
}
