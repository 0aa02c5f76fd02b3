// DeleteAcls (31): Deletes the access control entries that match filters.
//
//   1  brings resource patterns with prefixes; adds patternTypeFilter to the request, patternType to the response
//   2  is flexible
//   3  knows users as resources

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DeleteAclsRequest = message({
  name: 'DeleteAclsRequest',
  type: 'request',
  apiKey: 31,
  versions: '0-3',
  flexible: '2+',
  fields: {
    filters: array(
      struct({
        resourceTypeFilter: int8(),
        resourceNameFilter: string({ nullable: '0+' }),
        patternTypeFilter: int8({ versions: '1+', default: 3 }),
        principalFilter: string({ nullable: '0+' }),
        hostFilter: string({ nullable: '0+' }),
        operation: int8(),
        permissionType: int8(),
      }),
    ),
  },
});
export type DeleteAclsRequest = Message<typeof DeleteAclsRequest>;

export const DeleteAclsResponse = message({
  name: 'DeleteAclsResponse',
  type: 'response',
  apiKey: 31,
  versions: '0-3',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    filterResults: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        matchingAcls: array(
          struct({
            errorCode: int16(),
            errorMessage: string({ nullable: '0+' }),
            resourceType: int8(),
            resourceName: string(),
            patternType: int8({ versions: '1+', default: 3 }),
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
export type DeleteAclsResponse = Message<typeof DeleteAclsResponse>;
