// AlterUserScramCredentials (51): Changes or deletes SCRAM credentials.

import { array, bytes, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const AlterUserScramCredentialsRequest = message({
  name: 'AlterUserScramCredentialsRequest',
  type: 'request',
  apiKey: 51,
  versions: '0',
  flexible: '0+',
  fields: {
    deletions: array(
      struct({
        name: string(),
        mechanism: int8(),
      }),
    ),
    upsertions: array(
      struct({
        name: string(),
        mechanism: int8(),
        iterations: int32(),
        salt: bytes(),
        saltedPassword: bytes(),
      }),
    ),
  },
});
export type AlterUserScramCredentialsRequest = Message<typeof AlterUserScramCredentialsRequest>;

export const AlterUserScramCredentialsResponse = message({
  name: 'AlterUserScramCredentialsResponse',
  type: 'response',
  apiKey: 51,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        user: string(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
      }),
    ),
  },
});
export type AlterUserScramCredentialsResponse = Message<typeof AlterUserScramCredentialsResponse>;
