// The SCRAM credentials of users: what DescribeUserScramCredentials and AlterUserScramCredentials read and change. They are configs of
// the user in the coordination tree, under the mechanism's name, beside the user's quotas.

import { type Coordination, configEntitiesNode, defaultEntityName, desanitizeName, sanitizeName } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import { type ConfigEntity, readConfigs, tryWriteConfigs } from '../admin/config-nodes.ts';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import { UntilLapsedSession } from '../until-lapsed.ts';
import {
  maxScramIterations,
  minScramIterations,
  parseScramCredential,
  printScramCredential,
  type ScramMechanism,
  scramCredential,
  scramMechanisms,
} from './scram-mechanisms.ts';

export interface ScramDeletion {
  readonly name: string;
  readonly mechanism: number;
}

export interface ScramUpsertion extends ScramDeletion {
  readonly iterations: number;
  readonly salt: Buffer;
  readonly saltedPassword: Buffer;
}

export interface DescribedUser {
  readonly user: string;
  readonly error: ProtocolError | undefined;
  readonly credentials: readonly { readonly mechanism: number; readonly iterations: number }[];
}

export interface AlteredUser {
  readonly user: string;
  readonly error: ProtocolError | undefined;
}

const emptyName = 'Username must not be empty';

export class ScramCredentials {
  readonly #coordination: Coordination;

  constructor(coordination: Coordination) {
    this.#coordination = new UntilLapsedSession(coordination);
  }

  /** All users that have any, by name, when none are named; else each that is named, once. */
  async describe(users: readonly string[]): Promise<DescribedUser[]> {
    if (users.length === 0) return this.#describeAll();
    return Promise.all(
      [...new Set(users)].map(async (user) => {
        const isNamedTwice = users.indexOf(user) !== users.lastIndexOf(user);
        return this.#describeNamed(user, isNamedTwice).catch((error: unknown) => ({
          user,
          error: coordinationFailure(error),
          credentials: [],
        }));
      }),
    );
  }

  /** Of a user either all that is asked is done, or nothing; users do not depend on each other. */
  alter(deletions: readonly ScramDeletion[], upsertions: readonly ScramUpsertion[]): Promise<AlteredUser[]> {
    const users = new Set([...deletions, ...upsertions].map(({ name }) => name));
    return Promise.all(
      Array.from(users, async (user) => {
        const ofUser = ({ name }: ScramDeletion): boolean => name === user;
        try {
          await this.#alterUser(user, deletions.filter(ofUser), upsertions.filter(ofUser));
          return { user, error: undefined };
        } catch (error) {
          return { user, error: coordinationFailure(error) };
        }
      }),
    );
  }

  async #describeAll(): Promise<DescribedUser[]> {
    const { names } = await this.#coordination.children(configEntitiesNode.path('users'));
    const users = names.filter((entity) => entity !== defaultEntityName).map(desanitizeName);
    const described = await Promise.all(
      users.map(async (user) => describedUser(user, (await readConfigs(this.#coordination, nodeOf(user))).configs)),
    );
    return described.filter((user) => user !== undefined).sort((a, b) => (a.user === b.user ? 0 : a.user < b.user ? -1 : 1));
  }

  async #describeNamed(user: string, isNamedTwice: boolean): Promise<DescribedUser> {
    if (user === '') throw new ProtocolError(errorCodes.RESOURCE_NOT_FOUND, emptyName);
    if (isNamedTwice) {
      throw new ProtocolError(
        errorCodes.DUPLICATE_RESOURCE,
        `Cannot describe SCRAM credentials for the same user twice in a single request: ${user}`,
      );
    }
    const { configs } = await readConfigs(this.#coordination, nodeOf(user));
    const described = describedUser(user, configs);
    if (described !== undefined) return described;
    throw new ProtocolError(errorCodes.RESOURCE_NOT_FOUND, `Attempt to describe a user credential that does not exist: ${user}`);
  }

  async #alterUser(user: string, deletions: readonly ScramDeletion[], upsertions: readonly ScramUpsertion[]): Promise<void> {
    if (user === '') throw new ProtocolError(errorCodes.UNACCEPTABLE_CREDENTIAL, emptyName);
    const deleted = deletions.map(({ mechanism }) => mechanismOf(mechanism).name);
    const set = new Map(upsertions.map((upsertion) => [mechanismOf(upsertion.mechanism).name, credentialText(upsertion)]));
    if (new Set([...deleted, ...set.keys()]).size < deletions.length + upsertions.length) {
      throw new ProtocolError(errorCodes.DUPLICATE_RESOURCE, 'A user credential cannot be altered twice in the same request');
    }
    for (;;) {
      const { configs, version } = await readConfigs(this.#coordination, nodeOf(user));
      for (const name of deleted) {
        if (configs.delete(name)) continue;
        throw new ProtocolError(errorCodes.RESOURCE_NOT_FOUND, 'Attempt to delete a user credential that does not exist');
      }
      for (const [name, credential] of set) configs.set(name, credential);
      if (await tryWriteConfigs(this.#coordination, nodeOf(user), configs, version)) return;
    }
  }
}

function nodeOf(user: string): ConfigEntity {
  return { type: 'users', path: sanitizeName(user) };
}

/** undefined: the user has no credentials, only other configs or none at all. */
function describedUser(user: string, configs: ReadonlyMap<string, string>): DescribedUser | undefined {
  const stored = scramMechanisms.flatMap(({ type, name }) => {
    const text = configs.get(name);
    return text === undefined ? [] : [{ mechanism: type, iterations: parseScramCredential(text)?.iterations }];
  });
  if (stored.length === 0) return undefined;
  const credentials = stored.flatMap(({ mechanism, iterations }) => (iterations === undefined ? [] : [{ mechanism, iterations }]));
  if (credentials.length === stored.length) return { user, error: undefined, credentials };
  const error = new ProtocolError(errorCodes.UNKNOWN_SERVER_ERROR, `A stored SCRAM credential of ${user} cannot be read`);
  return { user, error, credentials: [] };
}

function mechanismOf(type: number): ScramMechanism {
  const mechanism = scramMechanisms.find((known) => known.type === type);
  if (mechanism === undefined) throw new ProtocolError(errorCodes.UNSUPPORTED_SASL_MECHANISM, 'Unknown SCRAM mechanism');
  return mechanism;
}

/** Slices of the request are not kept: the text is a copy. */
function credentialText(upsertion: ScramUpsertion): string {
  const { iterations, saltedPassword, mechanism } = upsertion;
  if (iterations < minScramIterations) throw new ProtocolError(errorCodes.UNACCEPTABLE_CREDENTIAL, 'Too few iterations');
  if (iterations > maxScramIterations) throw new ProtocolError(errorCodes.UNACCEPTABLE_CREDENTIAL, 'Too many iterations');
  // With it anybody could log in who knows the salt.
  if (saltedPassword.length === 0) throw new ProtocolError(errorCodes.UNACCEPTABLE_CREDENTIAL, 'The salted password is empty');
  return printScramCredential(scramCredential(mechanismOf(mechanism), upsertion));
}
