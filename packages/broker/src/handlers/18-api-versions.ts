// ApiVersions (18): which requests this broker serves, and in which versions. Usually the first request of a connection.
//
// A version that is not served is answered in the layout of version 0, so that the client can ask again in one that is. Version 3
// names the client's software, 5 the broker that the client believes to have reached.

import { type Api, ApiVersionsRequest, ApiVersionsResponse, apiByKey, errorCodes, type MessageInit } from '@odradek/protocol';
import { features } from '../metadata/features.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { RequestContext } from '../requests/request-context.ts';

export interface ApiVersionsParts {
  readonly brokerId: number;
  readonly metadataCache: MetadataCache;
  /** What is offered to a client that came as this one did. */
  readonly servedApis: (context: RequestContext) => Iterable<Api>;
}

export function apiVersionsHandler(parts: ApiVersionsParts): Handler<typeof ApiVersionsRequest, typeof ApiVersionsResponse> {
  return defineHandler(ApiVersionsRequest, ApiVersionsResponse, {
    handle(request, context) {
      const errorCode = problemOf(parts, request, context);
      if (errorCode !== errorCodes.NONE) return { errorCode };
      return {
        errorCode,
        apiKeys: Array.from(parts.servedApis(context), rangeOf),
        throttleTimeMs: 0,
        supportedFeatures: features
          // Older clients cannot read a lowest version of 0.
          .filter(({ minVersion }) => context.apiVersion >= 4 || minVersion > 0)
          .map(({ name, minVersion, maxVersion }) => ({ name, minVersion, maxVersion })),
        finalizedFeaturesEpoch: 0,
        finalizedFeatures: features.map(({ name, level }) => ({ name, minVersionLevel: level, maxVersionLevel: level })),
      };
    },
    unsupportedVersion() {
      const own = apiByKey(ApiVersionsRequest.apiKey ?? -1);
      return { errorCode: errorCodes.UNSUPPORTED_VERSION, apiKeys: own === undefined ? [] : [rangeOf(own)] };
    },
  });
}

function rangeOf({ key, stableVersions: versions }: Api): NonNullable<MessageInit<typeof ApiVersionsResponse>['apiKeys']>[number] {
  return { apiKey: key, minVersion: versions.min, maxVersion: versions.max };
}

/** The names of a client's software, as KIP-511 allows them. */
const softwareName = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/;

function problemOf(parts: ApiVersionsParts, request: ApiVersionsRequest, { apiVersion }: RequestContext): number {
  if (apiVersion >= 3) {
    const isNamed = softwareName.test(request.clientSoftwareName) && softwareName.test(request.clientSoftwareVersion);
    if (!isNamed) return errorCodes.INVALID_REQUEST;
  }
  if (apiVersion >= 5) {
    // The client looks for another broker, or another cluster: an address has changed hands.
    const isOtherCluster = request.clusterId !== null && request.clusterId !== parts.metadataCache.current.clusterId;
    const isOtherBroker = request.nodeId >= 0 && request.nodeId !== parts.brokerId;
    if (isOtherCluster || isOtherBroker) return errorCodes.REBOOTSTRAP_REQUIRED;
  }
  return errorCodes.NONE;
}
