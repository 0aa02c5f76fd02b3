// The access lists of the coordination tree, kept in memory: reads them all at the start, writes changes together with a node that
// announces them, and reads a list again when such a node tells that some broker has changed it.

import {
  type AclPattern,
  aclChangeNode,
  aclNode,
  aclPaths,
  aclResourceTypes,
  type Coordination,
  InvalidNodeError,
  isCoordinationError,
  type Operation,
} from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import { ChangeNotifications } from '../change-notifications.ts';
import { untilLapsed } from '../until-lapsed.ts';
import type { AclBinding, AclEntry } from './acl.ts';
import { isSameEntry } from './acl.ts';
import { AclBook } from './acl-book.ts';

export interface AclStoreParts {
  readonly coordination: Coordination;
  readonly logger: Logger;
}

const patternTypes = ['LITERAL', 'PREFIXED'] as const;

export class AclStore {
  readonly book = new AclBook();
  readonly #parts: AclStoreParts;
  readonly #notifications: ChangeNotifications<AclPattern>;

  private constructor(parts: AclStoreParts) {
    this.#parts = parts;
    this.#notifications = new ChangeNotifications({
      ...parts,
      what: 'access lists',
      folders: new Map(patternTypes.map((type) => [aclChangeNode.folder(type), (data) => aclChangeNode.decode(type, data)])),
      readAll: () => this.#readAll(),
      take: async (patterns) => {
        for (const pattern of patterns) await this.#load(pattern);
      },
    });
  }

  /** Makes the folders where they are missing, reads all lists and begins to watch for changes. */
  static async start(parts: AclStoreParts): Promise<AclStore> {
    for (const path of aclPaths) {
      try {
        await parts.coordination.create(path, null);
      } catch (error) {
        if (!isCoordinationError(error, 'NodeExists')) throw error;
      }
    }
    const store = new AclStore(parts);
    await store.#notifications.begin();
    return store;
  }

  /** Adds what the list does not have yet. REQUEST_TIMED_OUT when the store is away for too long. */
  async add(pattern: AclPattern, entries: readonly AclEntry[]): Promise<void> {
    await this.#change(pattern, (before) => {
      const added = entries.filter(
        (entry, index) =>
          !before.some((other) => isSameEntry(other, entry)) && entries.findIndex((other) => isSameEntry(other, entry)) === index,
      );
      return [...before, ...added];
    });
  }

  async remove(pattern: AclPattern, entries: readonly AclEntry[]): Promise<void> {
    await this.#change(pattern, (before) => before.filter((entry) => !entries.some((other) => isSameEntry(other, entry))));
  }

  *bindings(): Generator<AclBinding> {
    for (const { pattern, entries } of this.book.all()) for (const entry of entries) yield { pattern, entry };
  }

  /** The watches went with the lost session: everything is read again. */
  sessionRenewed(): Promise<void> {
    return this.#notifications.begin();
  }

  close(): void {
    this.#notifications.close();
  }

  #change(pattern: AclPattern, next: (before: readonly AclEntry[]) => readonly AclEntry[]): Promise<void> {
    return untilLapsed(this.#parts.coordination, () => this.#changeNow(pattern, next));
  }

  async #changeNow(pattern: AclPattern, next: (before: readonly AclEntry[]) => readonly AclEntry[]): Promise<void> {
    for (;;) {
      const before = await this.#read(pattern);
      const after = next(before.entries);
      if (after.length === before.entries.length) break;
      if (await this.#tryWrite(pattern, after, before.version)) break;
    }
    // So that whoever asked finds the change here when it is answered.
    await this.#notifications.catchUp();
    await this.#load(pattern);
  }

  /** The version is undefined where there is no node. */
  async #read(pattern: AclPattern): Promise<{ readonly entries: readonly AclEntry[]; readonly version: number | undefined }> {
    try {
      const { data, stat } = await this.#parts.coordination.get(aclNode.path(pattern));
      return { entries: aclNode.decode(data), version: stat.version };
    } catch (error) {
      if (!isCoordinationError(error, 'NoNode')) throw error;
      return { entries: [], version: undefined };
    }
  }

  /** The list and the news of it in one transaction. False: somebody else has changed it meanwhile. */
  async #tryWrite(pattern: AclPattern, entries: readonly AclEntry[], version: number | undefined): Promise<boolean> {
    const path = aclNode.path(pattern);
    const write = writeOf(path, entries, version);
    const announcement: Operation = {
      type: 'create',
      path: `${aclChangeNode.folder(pattern.patternType)}/${aclChangeNode.prefix}`,
      data: aclChangeNode.encode(pattern),
      sequential: true,
    };
    try {
      await this.#parts.coordination.multi([write, announcement]);
      return true;
    } catch (error) {
      if (isCoordinationError(error, 'NodeExists', 'BadVersion', 'NoNode')) return false;
      throw error;
    }
  }

  async #readAll(): Promise<void> {
    const { coordination } = this.#parts;
    const patterns = [...this.book.all()].map(({ pattern }) => pattern);
    for (const patternType of patternTypes) {
      for (const resourceType of aclResourceTypes) {
        const { names } = await coordination.children(folderOf(patternType, resourceType));
        patterns.push(...names.map((name) => ({ resourceType, patternType, name })));
      }
    }
    await Promise.all(patterns.map((pattern) => this.#load(pattern)));
  }

  /** A list that cannot be read stays as it was: to forget it could let somebody in. */
  async #load(pattern: AclPattern): Promise<void> {
    try {
      this.book.set(pattern, (await this.#read(pattern)).entries);
    } catch (error) {
      if (!(error instanceof InvalidNodeError)) throw error;
      this.#parts.logger.error('An access list cannot be read and stays as it was', { path: aclNode.path(pattern), error });
    }
  }
}

function folderOf(patternType: AclPattern['patternType'], resourceType: AclPattern['resourceType']): string {
  return aclNode.path({ patternType, resourceType, name: '' }).slice(0, -1);
}

function writeOf(path: string, entries: readonly AclEntry[], version: number | undefined): Operation {
  if (entries.length === 0) return { type: 'delete', path, version: version ?? -1 };
  const data = aclNode.encode(entries);
  return version === undefined ? { type: 'create', path, data } : { type: 'set', path, data, version };
}
