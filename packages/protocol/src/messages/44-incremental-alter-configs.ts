// IncrementalAlterConfigs (44): TODO
//
// Version 1 is the first flexible one.

import { array, bool, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const IncrementalAlterConfigsRequest = message({
  name: 'IncrementalAlterConfigsRequest',
  type: 'request',
  apiKey: 44,
  versions: '0-1',
  flexible: '1+',
  fields: {
    resources: array(
      struct({
        resourceType: int8(),
        resourceName: string(),
        configs: array(
          struct({
            name: string(),
            configOperation: int8(),
            value: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    validateOnly: bool(),
  },
});
export type IncrementalAlterConfigsRequest = Message<typeof IncrementalAlterConfigsRequest>;

export const IncrementalAlterConfigsResponse = message({
  name: 'IncrementalAlterConfigsResponse',
  type: 'response',
  apiKey: 44,
  versions: '0-1',
  flexible: '1+',
  fields: {
    throttleTimeMs: int32(),
    responses: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        resourceType: int8(),
        resourceName: string(),
      }),
    ),
  },
});
export type IncrementalAlterConfigsResponse = Message<typeof IncrementalAlterConfigsResponse>;
