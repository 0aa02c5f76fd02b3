// DescribeUserScramCredentials (50): Which SCRAM mechanisms users have credentials for.

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeUserScramCredentialsRequest = message({
  name: 'DescribeUserScramCredentialsRequest',
  type: 'request',
  apiKey: 50,
  versions: '0',
  flexible: '0+',
  fields: {
    users: array(
      struct({
        name: string(),
      }),
      { nullable: '0+' },
    ),
  },
});
export type DescribeUserScramCredentialsRequest = Message<typeof DescribeUserScramCredentialsRequest>;

export const DescribeUserScramCredentialsResponse = message({
  name: 'DescribeUserScramCredentialsResponse',
  type: 'response',
  apiKey: 50,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    results: array(
      struct({
        user: string(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        credentialInfos: array(
          struct({
            mechanism: int8(),
            iterations: int32(),
          }),
        ),
      }),
    ),
  },
});
export type DescribeUserScramCredentialsResponse = Message<typeof DescribeUserScramCredentialsResponse>;
