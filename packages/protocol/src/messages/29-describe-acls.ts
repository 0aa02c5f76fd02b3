// DescribeAcls (29): Lists access control entries that match a filter.
//
//   1  brings resource patterns with prefixes; adds patternTypeFilter to the request, patternType to the response
//   2  is flexible
//   3  knows users as resources

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeAclsRequest = message({
  name: 'DescribeAclsRequest',
  type: 'request',
  apiKey: 29,
  versions: '0-3',
  flexible: '2+',
  fields: {
    resourceTypeFilter: int8(),
    resourceNameFilter: string({ nullable: '0+' }),
    patternTypeFilter: int8({ versions: '1+', default: 3 }),
    principalFilter: string({ nullable: '0+' }),
    hostFilter: string({ nullable: '0+' }),
    operation: int8(),
    permissionType: int8(),
  },
});
export type DescribeAclsRequest = Message<typeof DescribeAclsRequest>;

export const DescribeAclsResponse = message({
  name: 'DescribeAclsResponse',
  type: 'response',
  apiKey: 29,
  versions: '0-3',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    resources: array(
      struct({
        resourceType: int8(),
        resourceName: string(),
        patternType: int8({ versions: '1+', default: 3 }),
        acls: array(
          struct({
            principal: string(),
            host: string(),
            operation: int8(),
            permissionType: int8(),
          }),
        ),
      }),
    ),
  },
});
export type DescribeAclsResponse = Message<typeof DescribeAclsResponse>;
