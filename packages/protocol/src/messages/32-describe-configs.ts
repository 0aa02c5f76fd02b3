// DescribeConfigs (32): TODO
//
// Version 1 adds includeSynonyms to the request, adds configSource and synonyms to the response, and drops isDefault from the
// response. Version 2 has the same layout. Version 3 adds includeDocumentation to the request and adds configType and
// documentation to the response. Version 4 is the first flexible one.

import { array, bool, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeConfigsRequest = message({
  name: 'DescribeConfigsRequest',
  type: 'request',
  apiKey: 32,
  versions: '0-4',
  flexible: '4+',
  fields: {
    resources: array(
      struct({
        resourceType: int8(),
        resourceName: string(),
        configurationKeys: array(string(), { nullable: '0+' }),
      }),
    ),
    includeSynonyms: bool({ versions: '1+' }),
    includeDocumentation: bool({ versions: '3+' }),
  },
});
export type DescribeConfigsRequest = Message<typeof DescribeConfigsRequest>;

export const DescribeConfigsResponse = message({
  name: 'DescribeConfigsResponse',
  type: 'response',
  apiKey: 32,
  versions: '0-4',
  flexible: '4+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        resourceType: int8(),
        resourceName: string(),
        configs: array(
          struct({
            name: string(),
            value: string({ nullable: '0+' }),
            readOnly: bool(),
            isDefault: bool({ versions: '0' }),
            configSource: int8({ versions: '1+', default: -1, ignorable: true }),
            isSensitive: bool(),
            synonyms: array(
              struct({
                name: string(),
                value: string({ nullable: '0+' }),
                source: int8(),
              }),
              { versions: '1+', ignorable: true },
            ),
            configType: int8({ versions: '3+', ignorable: true }),
            documentation: string({ versions: '3+', nullable: '0+', ignorable: true }),
          }),
        ),
      }),
    ),
  },
});
export type DescribeConfigsResponse = Message<typeof DescribeConfigsResponse>;
