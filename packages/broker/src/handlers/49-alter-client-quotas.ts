// AlterClientQuotas (49): sets and takes away quotas of users, client ids and addresses, each entity with its own outcome.

import { AlterClientQuotasRequest, AlterClientQuotasResponse, errorCodes, type ProtocolError } from '@odradek/protocol';
import type { ClientQuotas } from '../quotas/client-quotas.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type Entry = AlterClientQuotasRequest['entries'][number];

export function alterClientQuotasHandler(parts: {
  readonly clientQuotas: Pick<ClientQuotas, 'alter'>;
}): Handler<typeof AlterClientQuotasRequest, typeof AlterClientQuotasResponse> {
  return defineHandler(AlterClientQuotasRequest, AlterClientQuotasResponse, {
    async handle({ entries, validateOnly }) {
      const errors = await parts.clientQuotas.alter(entries, validateOnly);
      return { entries: entries.map((entry, index) => outcome(entry, errors[index])) };
    },
    errorResponse: ({ entries }, error) => ({ entries: entries.map((entry) => outcome(entry, error)) }),
  });
}

function outcome({ entity }: Entry, error: ProtocolError | undefined) {
  return { errorCode: error?.code ?? errorCodes.NONE, errorMessage: error?.message ?? null, entity };
}
