// AlterUserScramCredentials (51): sets and deletes SCRAM credentials of users. Each user has its own outcome. Only the active controller
// does this; another broker answers NOT_CONTROLLER for every user.

import {
  AlterUserScramCredentialsRequest,
  AlterUserScramCredentialsResponse,
  errorCodes,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import type { Controller } from '../controller/controller.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { AlteredUser, ScramCredentials } from '../security/scram-credentials.ts';

type Answer = MessageInit<typeof AlterUserScramCredentialsResponse>;

export function alterUserScramCredentialsHandler(parts: {
  readonly scramCredentials: Pick<ScramCredentials, 'alter'>;
  readonly controller: () => Pick<Controller, 'isActive'>;
}): Handler<typeof AlterUserScramCredentialsRequest, typeof AlterUserScramCredentialsResponse> {
  return defineHandler(AlterUserScramCredentialsRequest, AlterUserScramCredentialsResponse, {
    async handle({ deletions, upsertions }) {
      if (!parts.controller().isActive) throw new ProtocolError(errorCodes.NOT_CONTROLLER);
      return answerOf(await parts.scramCredentials.alter(deletions, upsertions));
    },
    errorResponse: ({ deletions, upsertions }, error) => {
      const users = new Set([...deletions, ...upsertions].map(({ name }) => name));
      return answerOf(Array.from(users, (user) => ({ user, error })));
    },
  });
}

function answerOf(altered: readonly AlteredUser[]): Answer {
  return {
    results: altered.map(({ user, error }) => ({
      user,
      errorCode: error?.code ?? errorCodes.NONE,
      errorMessage: error?.message ?? null,
    })),
  };
}
