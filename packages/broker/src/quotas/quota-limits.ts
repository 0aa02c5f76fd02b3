// The quota that holds for a client. Of all that are for it the most telling one counts alone, key by key; Kafka's order:
//
//   1 user and client id      4 <default> user and client id      7 client id
//   2 user and <default>      5 <default> user and <default>      8 <default>
//   3 user                    6 <default> user
//
// Whoever has a quota as a user shares it among all of the user's clients; by client id all clients of that name share it, whoever they
// are; and with both it is that client's of that user alone. This also holds where the quota is a default.

import type { QuotaEntity } from './quota-entities.ts';
import type { ClientQuotaKey } from './quota-values.ts';

export interface EntityQuotas {
  readonly entity: QuotaEntity;
  readonly values: ReadonlyMap<string, number>;
}

/** A limit and with whom it is shared: clients with the same user and client id here are measured together. */
export interface Limit {
  readonly perSecond: number;
  /** '': not told apart by it. */
  readonly user: string;
  readonly clientId: string;
}

/** Client ids, or null for the default, and their limits; undefined for the user as a whole. */
type ByClientId = Map<string | null | undefined, number>;

/** Users, or null for the default; undefined for client ids of any user. */
type ByUser = Map<string | null | undefined, ByClientId>;

/** How quotas stand at one moment. */
export class QuotaLimits {
  readonly #ofClients: ReadonlyMap<string, ByUser>;
  readonly #ofAddresses: ReadonlyMap<string | null, number>;
  /** Whether any client has any limit at all. */
  readonly limitsClients: boolean;
  readonly limitsAddresses: boolean;

  /** Entities of addresses have them in the form in which connections tell them. */
  constructor(quotas: Iterable<EntityQuotas> = []) {
    const ofClients = new Map<string, ByUser>();
    const ofAddresses = new Map<string | null, number>();
    for (const { entity, values } of quotas) {
      for (const [key, perSecond] of values) {
        if (entity.ip !== undefined) ofAddresses.set(entity.ip, perSecond);
        else childOf(childOf(ofClients, key), entity.user).set(entity.clientId, perSecond);
      }
    }
    this.#ofClients = ofClients;
    this.#ofAddresses = ofAddresses;
    this.limitsClients = ofClients.size > 0;
    this.limitsAddresses = ofAddresses.size > 0;
  }

  /** undefined: the client may do as much as it can. */
  ofClient(key: ClientQuotaKey, user: string, clientId: string): Limit | undefined {
    const byUser = this.#ofClients.get(key);
    if (byUser === undefined) return undefined;
    return (
      limitIn(byUser.get(user), user, clientId) ??
      limitIn(byUser.get(null), user, clientId) ??
      limitOfAnyUser(byUser.get(undefined), clientId)
    );
  }

  /** New connections a second. */
  ofAddress(ip: string): number | undefined {
    return this.#ofAddresses.get(ip) ?? this.#ofAddresses.get(null);
  }
}

/** The map in a map, made where there is none yet. */
function childOf<K, L, V>(parent: Map<K, Map<L, V>>, key: K): Map<L, V> {
  let child = parent.get(key);
  if (child === undefined) {
    child = new Map();
    parent.set(key, child);
  }
  return child;
}

function limitIn(ofUser: ByClientId | undefined, user: string, clientId: string): Limit | undefined {
  if (ofUser === undefined) return undefined;
  const ofClient = ofUser.get(clientId) ?? ofUser.get(null);
  if (ofClient !== undefined) return { perSecond: ofClient, user, clientId };
  const ofAll = ofUser.get(undefined);
  return ofAll === undefined ? undefined : { perSecond: ofAll, user, clientId: '' };
}

function limitOfAnyUser(byClientId: ByClientId | undefined, clientId: string): Limit | undefined {
  const perSecond = byClientId?.get(clientId) ?? byClientId?.get(null);
  return perSecond === undefined ? undefined : { perSecond, user: '', clientId };
}
