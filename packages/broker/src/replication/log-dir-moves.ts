// Moves replicas of this broker between its log directories, as AlterReplicaLogDirs asks. What is to be moved that is not here
// yet will be made in the directory that was asked for.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import { type LogDirectory, type LogManager, mayMove, type TopicPartition } from '@odradek/storage';
import type { ReplicaManager } from './replica-manager.ts';

export interface LogDirMovesParts {
  readonly logManager: Pick<LogManager, 'directory' | 'get' | 'future' | 'prefer' | 'startMove' | 'cancelMove'>;
  readonly replicaManager: Pick<ReplicaManager, 'find' | 'partition'>;
  /** Whether the directory gets no new replicas. */
  readonly isCordoned: (path: string) => boolean;
}

/**
 * Begins to move the replica, gives up a move to elsewhere, or does nothing where it is there. Throws
 *
 *   INVALID_TOPIC_EXCEPTION       the topic's name is too long for the folder of a log that moves
 *   LOG_DIR_NOT_FOUND             no such directory is configured
 *   INVALID_REPLICA_ASSIGNMENT    it is cordoned, even where the replica is there
 *   KAFKA_STORAGE_ERROR           it is offline, or the partition is, or any other directory that might have a copy
 *   REPLICA_NOT_AVAILABLE         the partition is not here; if it comes, it will be made in that directory
 *   UNKNOWN_TOPIC_OR_PARTITION    likewise, and nobody knows of it
 */
export function moveReplica(parts: LogDirMovesParts, moved: TopicPartition, path: string): void {
  const { logManager, replicaManager } = parts;
  const { topic, partition: index } = moved;
  if (!mayMove(moved)) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, `The name of the topic ${topic} is too long`);
  const directory = usableDirectory(parts, path);
  const partition = replicaManager.find(topic, index);
  if (partition?.isOffline === true)
    throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `${topic}-${index} lies on a log directory that is offline`);
  const future = logManager.future(moved);
  if (partition !== undefined && future !== undefined && future.directory !== directory) logManager.cancelMove(moved);
  if (logManager.get(moved)?.directory !== directory && logManager.future(moved) === undefined) logManager.prefer(moved, directory);
  try {
    // Throws where it is not here.
    void replicaManager.partition(topic, index).log;
    logManager.startMove(moved, directory);
  } catch (error) {
    // What old clients know this by.
    if (error instanceof ProtocolError && error.code === errorCodes.NOT_LEADER_OR_FOLLOWER)
      throw new ProtocolError(errorCodes.REPLICA_NOT_AVAILABLE, error.message, { cause: error });
    throw error;
  }
}

function usableDirectory({ logManager, isCordoned }: LogDirMovesParts, path: string): LogDirectory {
  const directory = logManager.directory(path);
  if (directory === undefined) throw new ProtocolError(errorCodes.LOG_DIR_NOT_FOUND, `There is no log directory ${path}`);
  if (isCordoned(path)) throw new ProtocolError(errorCodes.INVALID_REPLICA_ASSIGNMENT, `The log directory ${path} is cordoned`);
  if (!directory.isOnline) throw new ProtocolError(errorCodes.KAFKA_STORAGE_ERROR, `The log directory ${path} is offline`);
  return directory;
}
