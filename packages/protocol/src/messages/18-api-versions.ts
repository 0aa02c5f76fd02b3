// ApiVersions (18): TODO
//
// Version 1 adds throttleTimeMs to the response. Version 2 has the same layout. Version 3 is the first flexible one, adds
// clientSoftwareName and clientSoftwareVersion to the request, and adds supportedFeatures, finalizedFeaturesEpoch,
// finalizedFeatures and zkMigrationReady to the response. Version 4 has the same layout. Version 5 adds clusterId and nodeId to
// the request.

import { array, bool, int16, int32, int64, type Message, message, string, struct } from '../schema/define.ts';

export const ApiVersionsRequest = message({
  name: 'ApiVersionsRequest',
  type: 'request',
  apiKey: 18,
  versions: '0-5',
  flexible: '3+',
  fields: {
    clientSoftwareName: string({ versions: '3+', ignorable: true }),
    clientSoftwareVersion: string({ versions: '3+', ignorable: true }),
    clusterId: string({ versions: '5+', nullable: '0+', default: null, ignorable: true }),
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
        apiKey: int16(),
        minVersion: int16(),
        maxVersion: int16(),
      }),
    ),
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    supportedFeatures: array(
      struct({
        name: string(),
        minVersion: int16(),
        maxVersion: int16(),
      }),
      { versions: '3+', tag: 0, ignorable: true },
    ),
    finalizedFeaturesEpoch: int64({ versions: '3+', default: -1, tag: 1, ignorable: true }),
    finalizedFeatures: array(
      struct({
        name: string(),
        maxVersionLevel: int16(),
        minVersionLevel: int16(),
      }),
      { versions: '3+', tag: 2, ignorable: true },
    ),
    zkMigrationReady: bool({ versions: '3+', tag: 3, ignorable: true }),
  },
});
export type ApiVersionsResponse = Message<typeof ApiVersionsResponse>;
