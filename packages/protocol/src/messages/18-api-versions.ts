// ApiVersions (18): Which versions of which APIs the broker understands, and which features the cluster has. A client may ask
// this before it authenticates.
//
// A broker answers an unknown version in the layout of version 0, with UNSUPPORTED_VERSION and what it does understand. The
// header of the answer is never flexible.
//
//   1  adds throttleTimeMs to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  tells who the client is, and which features there are; is flexible; adds clientSoftwareName and clientSoftwareVersion to
//      the request, supportedFeatures, finalizedFeaturesEpoch, finalizedFeatures and zkMigrationReady to the response
//   4  no longer hides features that begin at version 0
//   5  names the cluster and broker that the client believes to speak to; adds clusterId and nodeId to the request

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ApiVersionsRequest = message({
  name: 'ApiVersionsRequest',
  type: 'request',
  apiKey: 18,
  versions: '0-5',
  flexible: '3+',
  fields: {
    /** Letters, digits, dots and dashes; anything else is an INVALID_REQUEST. */
    clientSoftwareName: string({ versions: '3+', ignorable: true }),
    /** As the name. */
    clientSoftwareVersion: string({ versions: '3+', ignorable: true }),
    /** The cluster that the client believes to speak to. */
    clusterId: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
    /** The broker that the client believes to speak to; -1: any. */
    nodeId: int32({ versions: '5+', default: -1, ignorable: true }),
  },
});
export type ApiVersionsRequest = Message<typeof ApiVersionsRequest>;

export const ApiVersionsResponse = message({
  name: 'ApiVersionsResponse',
  type: 'response',
  apiKey: 18,
  versions: '0-5',
  flexible: '3+',
  fields: {
    errorCode: int16(),
    apiKeys: array(
      struct({
        /** The number of the API. */
        apiKey: int16(),
        /** The lowest version that the broker understands. */
        minVersion: int16(),
        /** The highest. */
        maxVersion: int16(),
      }),
    ),
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    /** What the broker could do. */
    supportedFeatures: array(
      struct({
        name: string(),
        minVersion: int16(),
        maxVersion: int16(),
      }),
      { versions: '3+', tag: 0, ignorable: true },
    ),
    /** Grows with every change of finalizedFeatures; -1: unknown. */
    finalizedFeaturesEpoch: int64({ versions: '3+', default: -1, tag: 1, ignorable: true }),
    /** What the cluster has agreed to do. */
    finalizedFeatures: array(
      struct({
        name: string(),
        maxVersionLevel: int16(),
        minVersionLevel: int16(),
      }),
      { versions: '3+', tag: 2, ignorable: true },
    ),
    /** Whether a KRaft migration may begin. */
    zkMigrationReady: bool({ versions: '3+', tag: 3, ignorable: true }),
  },
});
export type ApiVersionsResponse = Message<typeof ApiVersionsResponse>;
