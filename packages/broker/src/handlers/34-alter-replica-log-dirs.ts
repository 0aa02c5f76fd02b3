// AlterReplicaLogDirs (34): moves replicas of this broker to other log directories of it. The answer comes when the moves have
// begun; how far they are is told by DescribeLogDirs. A partition that is named more than once goes where it was named last.

import {
  AlterReplicaLogDirsRequest,
  AlterReplicaLogDirsResponse,
  errorCodes,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import type { Logger } from '@odradek/runtime';
import { type LogDirMovesParts, moveReplica } from '../replication/log-dir-moves.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type TopicResult = NonNullable<MessageInit<typeof AlterReplicaLogDirsResponse>['results']>[number];

export function alterReplicaLogDirsHandler(
  parts: LogDirMovesParts & { readonly logger: Logger },
): Handler<typeof AlterReplicaLogDirsRequest, typeof AlterReplicaLogDirsResponse> {
  return defineHandler(AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse, {
    handle: (request) => ({ results: resultsOf(request, (topic, partition, path) => move(parts, topic, partition, path)) }),
    errorResponse: (request, error) => ({ results: resultsOf(request, () => error.code) }),
  });
}

function resultsOf(
  { dirs }: AlterReplicaLogDirsRequest,
  outcomeOf: (topic: string, partition: number, path: string) => number,
): TopicResult[] {
  const topics = new Map<string, Map<number, string>>();
  for (const { path, topics: ofDirectory } of dirs) {
    for (const { name, partitions } of ofDirectory) {
      const paths = topics.get(name) ?? new Map<number, string>();
      for (const partition of partitions) paths.set(partition, path);
      topics.set(name, paths);
    }
  }
  return Array.from(topics, ([topicName, paths]) => ({
    topicName,
    partitions: Array.from(paths, ([partitionIndex, path]) => ({
      partitionIndex,
      errorCode: outcomeOf(topicName, partitionIndex, path),
    })),
  }));
}

function move(parts: LogDirMovesParts & { readonly logger: Logger }, topic: string, partition: number, path: string): number {
  try {
    moveReplica(parts, { topic, partition }, path);
    return errorCodes.NONE;
  } catch (error) {
    const isRefusal = error instanceof ProtocolError;
    const reason = isRefusal ? { reason: error.message } : { error };
    parts.logger.warn('A replica cannot be moved to another log directory', { topic, partition, directory: path, ...reason });
    return isRefusal ? error.code : errorCodes.UNKNOWN_SERVER_ERROR;
  }
}
