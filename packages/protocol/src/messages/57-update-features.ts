// UpdateFeatures (57): Raises or lowers the version level of cluster features.
//
//   1  can allow unsafe downgrades and only validate; adds upgradeType and validateOnly to the request; drops allowDowngrade
//      from the request
//   2  leaves errors to the request as a whole; drops results from the response

import { array, bool, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const UpdateFeaturesRequest = message({
  name: 'UpdateFeaturesRequest',
  type: 'request',
  apiKey: 57,
  versions: '0-2',
  flexible: '0+',
  fields: {
    timeoutMs: int32({ default: 60000 }),
    featureUpdates: array(
      struct({
        feature: string(),
        maxVersionLevel: int16(),
        allowDowngrade: bool({ versions: '0' }),
        upgradeType: int8({ versions: '1+', default: 1 }),
      }),
    ),
    validateOnly: bool({ versions: '1+' }),
  },
});
export type UpdateFeaturesRequest = Message<typeof UpdateFeaturesRequest>;

export const UpdateFeaturesResponse = message({
  name: 'UpdateFeaturesResponse',
  type: 'response',
  apiKey: 57,
  versions: '0-2',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    results: array(
      struct({
        feature: string(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      }),
      { versions: '0-1', ignorable: true },
    ),
  },
});
export type UpdateFeaturesResponse = Message<typeof UpdateFeaturesResponse>;
