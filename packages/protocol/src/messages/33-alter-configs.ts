// AlterConfigs (33): Replaces all dynamic configurations of a resource. What the request leaves out goes back to its default;
// IncrementalAlterConfigs is the better way.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible

import { array, bool, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const AlterConfigsRequest = message({
  name: 'AlterConfigsRequest',
  type: 'request',
  apiKey: 33,
  versions: '0-2',
  flexible: '2+',
  fields: {
    resources: array(
      struct({
        /** As in DescribeConfigs. */
        resourceType: int8(),
        resourceName: string(),
        configs: array(
          struct({
            name: string(),
            value: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
    /** Whether to check everything and change nothing. */
    validateOnly: bool(),
  },
});
export type AlterConfigsRequest = Message<typeof AlterConfigsRequest>;

export const AlterConfigsResponse = message({
  name: 'AlterConfigsResponse',
  type: 'response',
  apiKey: 33,
  versions: '0-2',
  flexible: '2+',
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
export type AlterConfigsResponse = Message<typeof AlterConfigsResponse>;
