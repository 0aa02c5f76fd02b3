// AlterClientQuotas (49): Changes quotas of users, clients and addresses.
//
//   1  is flexible

import { array, bool, float64, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const AlterClientQuotasRequest = message({
  name: 'AlterClientQuotasRequest',
  type: 'request',
  apiKey: 49,
  versions: '0-1',
  flexible: '1+',
  fields: {
    entries: array(
      struct({
        entity: array(
          struct({
            entityType: string(),
            entityName: string({ nullable: '0+' }),
          }),
        ),
        ops: array(
          struct({
            key: string(),
            value: float64(),
            remove: bool(),
          }),
        ),
      }),
    ),
    validateOnly: bool(),
  },
});
export type AlterClientQuotasRequest = Message<typeof AlterClientQuotasRequest>;

export const AlterClientQuotasResponse = message({
  name: 'AlterClientQuotasResponse',
  type: 'response',
  apiKey: 49,
  versions: '0-1',
  flexible: '1+',
  fields: {
    throttleTimeMs: int32(),
    entries: array(
      struct({
        errorCode: int16(),
        errorMessage: string({ nullable: '0+' }),
        entity: array(
          struct({
            entityType: string(),
            entityName: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type AlterClientQuotasResponse = Message<typeof AlterClientQuotasResponse>;
