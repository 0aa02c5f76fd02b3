// FindCoordinator (10): which broker coordinates a group or a transactional id: the leader of its partition of the internal
// topic. The topic is made when the first one asks.
//
// Version 1 brought the key types (0 group, 1 transaction; 2, a share group, from version 6), version 4 several keys at once.

import { errorCodes, FindCoordinatorRequest, FindCoordinatorResponse, type MessageInit, ProtocolError } from '@odradek/protocol';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

type Coordinator = NonNullable<MessageInit<typeof FindCoordinatorResponse>['coordinators']>[number];

/** Where the coordinators of one key type live. */
export interface CoordinatorTopic {
  readonly name: string;
  /** The partition that a key belongs to. Throws INVALID_REQUEST for a key that cannot be one. */
  partitionOf(key: string): number;
  /** Makes the topic. Settles when that has been asked for; it may take a moment more until the partitions have leaders. */
  create(): Promise<void>;
}

export function findCoordinatorHandler(parts: {
  readonly metadataCache: MetadataCache;
  /** By key type. A type that is absent is not supported. */
  readonly topics: ReadonlyMap<number, CoordinatorTopic>;
}): Handler<typeof FindCoordinatorRequest, typeof FindCoordinatorResponse> {
  const find = async (keyType: number, key: string, context: RequestContext): Promise<Coordinator> => {
    try {
      return await findCoordinator(parts, keyType, key, context);
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      return failed(key, error);
    }
  };
  return defineHandler(FindCoordinatorRequest, FindCoordinatorResponse, {
    async handle(request, context) {
      if (context.apiVersion >= 4) {
        return { coordinators: await Promise.all(request.coordinatorKeys.map((key) => find(request.keyType, key, context))) };
      }
      const { key: _key, ...coordinator } = await find(request.keyType, request.key, context);
      // A message that is not null has always been the error's name at least.
      return coordinator.errorCode === errorCodes.NONE ? { ...coordinator, errorMessage: 'NONE' } : coordinator;
    },
    errorResponse: (request, error) => ({
      ...failed(request.key, error),
      coordinators: request.coordinatorKeys.map((key) => failed(key, error)),
    }),
  });
}

async function findCoordinator(
  { metadataCache, topics }: Parameters<typeof findCoordinatorHandler>[0],
  keyType: number,
  key: string,
  context: RequestContext,
): Promise<Coordinator> {
  const topic = topics.get(keyType);
  if (topic === undefined) {
    // A client that is told to try again goes on with what needs no coordinator; one that is told that it is wrong gives up.
    if (keyType === 0 || keyType === 1) throw new ProtocolError(errorCodes.COORDINATOR_NOT_AVAILABLE);
    throw new ProtocolError(errorCodes.INVALID_REQUEST, `There is no coordinator type ${keyType}.`);
  }
  const partition = topic.partitionOf(key);
  if (metadataCache.current.topic(topic.name) === undefined) await topic.create();
  const metadata = metadataCache.current;
  const leader = metadata.partition(topic.name, partition)?.leader ?? -1;
  const endpoint = metadata.endpoint(leader, context.listenerName);
  if (endpoint === undefined) throw new ProtocolError(errorCodes.COORDINATOR_NOT_AVAILABLE);
  return { key, nodeId: leader, host: endpoint.host, port: endpoint.port, errorCode: errorCodes.NONE, errorMessage: '' };
}

function failed(key: string, error: ProtocolError): Coordinator {
  return { key, nodeId: -1, host: '', port: -1, errorCode: error.code, errorMessage: error.message };
}
