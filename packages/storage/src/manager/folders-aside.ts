// Folders of logs that are not in use any more: they get another name at once, and are removed a while later, or kept for somebody to
// look at.

import type { TimerTask } from '@odradek/runtime';
import { setAsideFolder } from '../log/log-file-names.ts';
import type { LogWorld } from '../log/log-files.ts';
import type { PartitionLog } from '../log/partition-log.ts';
import { topicPartitionKey } from '../log/topic-partition.ts';
import type { LogDirectory } from './log-directory.ts';

export interface FolderAside {
  /** Topic and partition. */
  readonly name: string;
  readonly path: string;
  readonly directory: LogDirectory;
  /** `file.delete.delay.ms`, where it is removed. */
  readonly removeAfterMs: number;
}

export class FoldersAside {
  readonly #world: LogWorld;
  /** Folders that will be removed when their time has come. The next start removes those that are left. */
  readonly #removals = new Set<TimerTask>();

  constructor(world: LogWorld) {
    this.#world = world;
  }

  /** Nothing is removed any more. */
  close(): void {
    for (const removal of this.#removals) removal.cancel();
    this.#removals.clear();
  }

  /** Takes the log out of use. */
  put(log: PartitionLog, what: 'delete' | 'stray'): void {
    const { path, directory, config, topicPartition } = log;
    log.closeFiles();
    if (!directory.isOnline) return;
    this.rename({ name: topicPartitionKey(topicPartition), path, directory, removeAfterMs: config.fileDeleteDelayMs }, what);
    // A log of the same name that is made soon must not inherit from this one. A failure has been dealt with where it happened.
    directory.checkpointSoon().catch(() => undefined);
  }

  rename({ name, path, directory, removeAfterMs }: FolderAside, what: 'delete' | 'stray'): void {
    const { fileSystem, timer, logger } = this.#world;
    const aside = `${directory.path}/${this.newName(name, what)}`;
    try {
      fileSystem.renameSync(path, aside);
      directory.folderRenamed();
    } catch (error) {
      directory.fail(error);
      return;
    }
    if (what !== 'delete') return;
    const removal = timer.schedule(removeAfterMs, () => {
      this.#removals.delete(removal);
      fileSystem.remove(aside).catch((error: unknown) => logger.warn('A deleted log could not be removed', { path: aside, error }));
    });
    this.#removals.add(removal);
  }

  newName(name: string, what: 'delete' | 'future' | 'stray'): string {
    return setAsideFolder(name, what, this.#world.random.bytes(16).toString('hex'));
  }
}
