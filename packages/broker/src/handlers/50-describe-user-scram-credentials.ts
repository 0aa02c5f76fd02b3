// DescribeUserScramCredentials (50): for which SCRAM mechanisms users have credentials, and with how many iterations; never the
// credentials themselves. Every broker answers this. Without names, or with none, all users that have any are told.

import { DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, errorCodes } from '@odradek/protocol';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';
import type { DescribedUser, ScramCredentials } from '../security/scram-credentials.ts';

export function describeUserScramCredentialsHandler(parts: {
  readonly scramCredentials: Pick<ScramCredentials, 'describe'>;
}): Handler<typeof DescribeUserScramCredentialsRequest, typeof DescribeUserScramCredentialsResponse> {
  return defineHandler(DescribeUserScramCredentialsRequest, DescribeUserScramCredentialsResponse, {
    async handle({ users }) {
      let described: DescribedUser[];
      try {
        described = await parts.scramCredentials.describe((users ?? []).map(({ name }) => name));
      } catch (error) {
        throw coordinationFailure(error);
      }
      return {
        errorCode: errorCodes.NONE,
        errorMessage: null,
        results: described.map(({ user, error, credentials }) => ({
          user,
          errorCode: error?.code ?? errorCodes.NONE,
          errorMessage: error?.message ?? null,
          credentialInfos: credentials,
        })),
      };
    },
  });
}
