// One coordination tree for several brokers in one process: embedded, in a directory that belongs to the tree alone. Each broker opens its
// own session in it.

import { type CoordinationStore, EmbeddedStore } from '@odradek/coordination';
import type { World } from '@odradek/runtime';

export interface SharedCoordination extends CoordinationStore {
  /** Settles with the reason when the tree's journal has failed: no broker can go on. */
  readonly failed: Promise<Error>;
  /** After the brokers. */
  close(): Promise<void>;
}

/** Throws an Error that names the directory when another process uses it. */
export async function openSharedCoordination(
  { fileSystem, timer, clock, logger }: Pick<World, 'fileSystem' | 'timer' | 'clock' | 'logger'>,
  directory: string,
): Promise<SharedCoordination> {
  fileSystem.makeDirectorySync(directory);
  const lock = fileSystem.lockDirectorySync(directory);
  const failed = Promise.withResolvers<Error>();
  const onFailure = (cause: unknown): void => {
    failed.resolve(new Error(`The coordination journal in ${directory} has failed`, { cause }));
  };
  try {
    const store = await EmbeddedStore.open({ fileSystem, timer, clock, logger, directory, onFailure });
    return {
      openSession: () => store.openSession(),
      failed: failed.promise,
      async close() {
        await store.close();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
}
