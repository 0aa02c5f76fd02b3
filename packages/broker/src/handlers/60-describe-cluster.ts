// DescribeCluster (60): tells the cluster's id, its controller and its live brokers, as reached over the listener that the request
// came in on. Version 1 says what kind of node is asked, version 2 can ask for fenced brokers, which exist in KRaft only.

import { DescribeClusterRequest, DescribeClusterResponse, errorCodes } from '@odradek/protocol';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { allOperations, operationsNotAsked } from '../requests/authorized-operations.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

const endpointTypes = { broker: 1, controller: 2 } as const;

export function describeClusterHandler(parts: {
  readonly metadataCache: Pick<MetadataCache, 'current'>;
}): Handler<typeof DescribeClusterRequest, typeof DescribeClusterResponse> {
  return defineHandler(DescribeClusterRequest, DescribeClusterResponse, {
    handle(request, { listenerName }) {
      if (request.endpointType === endpointTypes.controller) {
        return {
          errorCode: errorCodes.MISMATCHED_ENDPOINT_TYPE,
          errorMessage: 'The request was sent to a broker, but asks for a controller',
        };
      }
      if (request.endpointType !== endpointTypes.broker) {
        return {
          errorCode: errorCodes.UNSUPPORTED_ENDPOINT_TYPE,
          errorMessage: `Unsupported endpoint type ${request.endpointType}`,
        };
      }
      const metadata = parts.metadataCache.current;
      const brokers = [...metadata.brokers()].flatMap(({ id, rack }) => {
        const endpoint = metadata.endpoint(id, listenerName);
        return endpoint === undefined ? [] : [{ brokerId: id, host: endpoint.host, port: endpoint.port, rack }];
      });
      return {
        clusterId: metadata.clusterId,
        // A controller that cannot be reached over this listener is of no use to the client.
        controllerId: brokers.some(({ brokerId }) => brokerId === metadata.controllerId) ? metadata.controllerId : -1,
        brokers,
        clusterAuthorizedOperations: request.includeClusterAuthorizedOperations ? allOperations('cluster') : operationsNotAsked,
      };
    },
  });
}
