// CreateAcls (30): Creates access control entries.
//
//   1  brings resource patterns with prefixes; adds resourcePatternType to the request
//   2  is flexible
//   3  knows users as resources

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const CreateAclsRequest = message({
  name: 'CreateAclsRequest',
  type: 'request',
  apiKey: 30,
  versions: '0-3',
  flexible: '2+',
  fields: {
    creations: array(
      struct({
        resourceType: int8(),
        resourceName: string(),
        resourcePatternType: int8({ versions: '1+', default: 3 }),
        principal: string(),
        host: string(),
        operation: int8(),
        permissionType: int8(),
      }),
    ),
  },
});
export type CreateAclsRequest = Message<typeof CreateAclsRequest>;

export const CreateAclsResponse = message({
  name: 'CreateAclsResponse',
  type: 'response',
  apiKey: 30,
  versions: '0-3',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      }),
    ),
  },
});
export type CreateAclsResponse = Message<typeof CreateAclsResponse>;
