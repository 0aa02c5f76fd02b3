// DescribeClientQuotas (48): Quotas of users, clients and addresses that match a filter.
//
//   1  is flexible

import { array, bool, float64, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const DescribeClientQuotasRequest = message({
  name: 'DescribeClientQuotasRequest',
  type: 'request',
  apiKey: 48,
  versions: '0-1',
  flexible: '1+',
  fields: {
    components: array(
      struct({
        entityType: string(),
        matchType: int8(),
        match: string({ nullable: '0+' }),
      }),
    ),
    strict: bool(),
  },
});
export type DescribeClientQuotasRequest = Message<typeof DescribeClientQuotasRequest>;

export const DescribeClientQuotasResponse = message({
  name: 'DescribeClientQuotasResponse',
  type: 'response',
  apiKey: 48,
  versions: '0-1',
  flexible: '1+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
    entries: array(
      struct({
        entity: array(
          struct({
            entityType: string(),
            entityName: string({ nullable: '0+' }),
          }),
        ),
        values: array(
          struct({
            key: string(),
            value: float64(),
          }),
        ),
      }),
      { nullable: '0+' },
    ),
  },
});
export type DescribeClientQuotasResponse = Message<typeof DescribeClientQuotasResponse>;
