// Puts the authorizer together as the configuration asks for it.

import type { Coordination } from '@odradek/coordination';
import type { Logger } from '@odradek/runtime';
import type { BrokerConfig } from '../broker-config.ts';
import { AclStore } from './acl-store.ts';
import { Authorizer, superUsersOf } from './authorizer.ts';

/** undefined: none is configured. Reads all access lists otherwise. */
export async function startAuthorizer(parts: {
  readonly config: BrokerConfig;
  readonly coordination: Coordination;
  readonly logger: Logger;
}): Promise<Authorizer | undefined> {
  const { config, coordination, logger } = parts;
  if (config.get('authorizer.class.name') === '') return undefined;
  return new Authorizer({
    acls: await AclStore.start({ coordination, logger }),
    superUsers: superUsersOf(config.get('super.users')),
    isAllowedWithoutList: config.get('allow.everyone.if.no.acl.found'),
    logger,
  });
}
