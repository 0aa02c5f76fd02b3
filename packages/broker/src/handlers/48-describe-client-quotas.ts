// DescribeClientQuotas (48): the quotas of users, client ids and addresses that a filter lets through. A strict filter wants entities of
// exactly the kinds that it names. Every broker answers this, from what it goes by itself, after it has read what was announced.

import { DescribeClientQuotasRequest, DescribeClientQuotasResponse, errorCodes } from '@odradek/protocol';
import type { ConfigChanges } from '../admin/config-changes.ts';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import type { ClientQuotas } from '../quotas/client-quotas.ts';
import { entityParts } from '../quotas/quota-entities.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function describeClientQuotasHandler(parts: {
  readonly clientQuotas: Pick<ClientQuotas, 'describe'>;
  readonly configChanges: Pick<ConfigChanges, 'catchUp'>;
}): Handler<typeof DescribeClientQuotasRequest, typeof DescribeClientQuotasResponse> {
  return defineHandler(DescribeClientQuotasRequest, DescribeClientQuotasResponse, {
    async handle({ components, strict }) {
      try {
        await parts.configChanges.catchUp();
      } catch (error) {
        throw coordinationFailure(error);
      }
      return {
        errorCode: errorCodes.NONE,
        errorMessage: null,
        entries: parts.clientQuotas.describe(components, strict).map(({ entity, values }) => ({
          entity: entityParts(entity),
          values: Array.from(values, ([key, value]) => ({ key, value })),
        })),
      };
    },
    errorResponse: (_, { code, message }) => ({ errorCode: code, errorMessage: message, entries: null }),
  });
}
