// What became of a write that was sent again because the connection broke before it was answered, and that was then refused: NodeExists,
// BadVersion or NoNode may say that somebody else was there, or that its own first sending had taken effect. The nodes tell: a write has
// taken effect when everything that it was to leave behind is there, and nothing has come on top of it.

import {
  type Coordination,
  CoordinationError,
  isCoordinationError,
  type NodeData,
  type NodeStat,
  type Operation,
  type OperationResult,
} from '../coordination.ts';

/** What a write left behind that has taken effect. */
export class Successes {
  readonly #stats: ReadonlyMap<string, NodeStat>;

  constructor(stats: ReadonlyMap<string, NodeStat>) {
    this.#stats = stats;
  }

  /** Of a node that it created or set. */
  stat(path: string): NodeStat {
    const stat = this.#stats.get(path);
    // Where a node was made with a number that nobody knows any more, for one.
    if (stat === undefined) throw new CoordinationError('ConnectionLoss', path, { detail: 'the answer is lost' });
    return stat;
  }

  result(operation: Operation): OperationResult {
    switch (operation.type) {
      case 'create':
        // The number of a sequential one is lost with the answer.
        return { type: 'create', path: operation.path };
      case 'set':
        return { type: 'set', stat: this.stat(operation.path) };
      case 'delete':
      case 'check':
        return { type: operation.type };
    }
  }
}

/** What a node is like when the write has taken effect. */
interface Trace {
  readonly isThere: boolean;
  readonly data: Uint8Array | null;
  /** undefined: any. */
  readonly version: number | undefined;
  readonly ephemeralOwner: bigint | undefined;
}

/** Answers what the write has left behind; undefined: it has not taken effect, or others have written since. */
export async function ownSuccess(
  coordination: Pick<Coordination, 'get' | 'sessionId'>,
  operations: readonly Operation[],
  refusal: CoordinationError,
): Promise<Successes | undefined> {
  if (!isCoordinationError(refusal, 'NodeExists', 'BadVersion', 'NoNode')) return undefined;
  // Whoever makes a condition wants to know that it holds no more.
  if (operations[refusal.failedOperation ?? 0]?.type === 'check') return undefined;
  const stats = new Map<string, NodeStat>();
  const traces = tracesOf(operations, coordination.sessionId);
  if (traces.size === 0) return undefined;
  for (const [path, trace] of traces) {
    const found = await nodeAt(coordination, path);
    if (!isAsLeft(found, trace)) return undefined;
    if (found !== undefined) stats.set(path, found.stat);
  }
  return new Successes(stats);
}

function tracesOf(operations: readonly Operation[], sessionId: bigint): Map<string, Trace> {
  const traces = new Map<string, Trace>();
  for (const operation of operations) {
    const { path } = operation;
    const before = traces.get(path);
    switch (operation.type) {
      case 'create':
        // One that is sequential is never refused for being there, and what it left has a name that we do not know.
        if (operation.sequential === true) break;
        traces.set(path, {
          isThere: true,
          data: operation.data,
          version: 0,
          ephemeralOwner: operation.ephemeral === true ? sessionId : 0n,
        });
        break;
      case 'set': {
        const versionBefore = operation.version === -1 ? before?.version : operation.version;
        const version = versionBefore === undefined ? undefined : versionBefore + 1;
        traces.set(path, { isThere: true, data: operation.data, version, ephemeralOwner: before?.ephemeralOwner });
        break;
      }
      case 'delete':
        traces.set(path, { isThere: false, data: null, version: undefined, ephemeralOwner: undefined });
        break;
      case 'check':
        break;
    }
  }
  return traces;
}

interface Found {
  readonly data: NodeData;
  readonly stat: NodeStat;
}

async function nodeAt(coordination: Pick<Coordination, 'get'>, path: string): Promise<Found | undefined> {
  try {
    return await coordination.get(path);
  } catch (error) {
    if (isCoordinationError(error, 'NoNode')) return undefined;
    throw error;
  }
}

function isAsLeft(found: Found | undefined, { isThere, data, version, ephemeralOwner }: Trace): boolean {
  if (!isThere || found === undefined) return !isThere && found === undefined;
  return (
    isSameData(found.data, data) &&
    (version === undefined || found.stat.version === version) &&
    (ephemeralOwner === undefined || found.stat.ephemeralOwner === ephemeralOwner)
  );
}

function isSameData(found: NodeData, written: Uint8Array | null): boolean {
  if (found === null || written === null) return found === null && written === null;
  return found.equals(written);
}
