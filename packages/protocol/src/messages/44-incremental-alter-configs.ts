// IncrementalAlterConfigs (44): Sets, deletes, appends to or subtracts from single configurations.
//
//   1  is flexible

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
        /** As in DescribeConfigs. */
        resourceType: int8(),
        resourceName: string(),
        configs: array(
          struct({
            name: string(),
            /** 0 set, 1 delete, 2 append, 3 subtract; the last two for lists. */
            configOperation: int8(),
            /** Null to delete. */
            value: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    /** Whether to check everything and change nothing. */
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
    /** One for each resource of the request. */
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
