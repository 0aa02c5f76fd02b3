// DescribeConfigs (32): Configurations of topics, brokers and other resources, with where each value comes from.
//
//   1  tells sources and synonyms instead of whether a value is the default; adds includeSynonyms to the request, configSource
//      and synonyms to the response; drops isDefault from the response
//   2  is as 1: the client waits itself when it is throttled
//   3  tells types and documentation; adds includeDocumentation to the request, configType and documentation to the response
//   4  is flexible

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
        /** 2 topic, 4 broker, 8 broker logger, 16 client metrics, 32 group. */
        resourceType: int8(),
        /** Empty for brokers: the dynamic defaults of the cluster. */
        resourceName: string(),
        /** Null: all. */
        configurationKeys: array(string(), { nullable: '0+' }),
      }),
    ),
    /** Whether to tell where else a value could come from. */
    includeSynonyms: bool({ versions: '1+' }),
    /** Whether to tell what each configuration is for. */
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
            /** Version 0. */
            isDefault: bool({ versions: '0' }),
            /** 1 topic, 2 broker dynamic, 3 cluster-wide dynamic, 4 static in server.properties, 5 default, 6 broker logger, 7 client metrics, 8 group. */
            configSource: int8({ versions: '1+', default: -1, ignorable: true }),
            /** A password: the value is not told. */
            isSensitive: bool(),
            /** What would count in its place, the strongest first. */
            synonyms: array(
              struct({
                name: string(),
                value: string({ nullable: '0+' }),
                source: int8(),
              }),
              { versions: '1+', ignorable: true },
            ),
            /** 1 boolean, 2 string, 3 int, 4 short, 5 long, 6 double, 7 list, 8 class, 9 password. */
            configType: int8({ versions: '3+', ignorable: true }),
            documentation: string({ versions: '3+', nullable: '0+', ignorable: true }),
          }),
        ),
      }),
    ),
  },
});
export type DescribeConfigsResponse = Message<typeof DescribeConfigsResponse>;
