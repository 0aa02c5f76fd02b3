// Says who may do what: by the access lists, but super users may do everything, and what has no list is forbidden or, where
// allow.everyone.if.no.acl.found says so, allowed.

import type { Logger } from '@odradek/runtime';
import { allOperations, operationsOf } from '../requests/authorized-operations.ts';
import type { RequestContext } from '../requests/request-context.ts';
import { type AclOperation, type AclResourceType, clusterName } from './acl.ts';
import type { AclStore } from './acl-store.ts';

export interface AuthorizerParts {
  readonly acls: AclStore;
  /** `User:alice` */
  readonly superUsers: ReadonlySet<string>;
  readonly isAllowedWithoutList: boolean;
  readonly logger: Logger;
}

export type AskingContext = Pick<RequestContext, 'principal' | 'clientAddress'>;

export class Authorizer {
  readonly acls: AclStore;
  readonly #parts: AuthorizerParts;

  constructor(parts: AuthorizerParts) {
    this.acls = parts.acls;
    this.#parts = parts;
  }

  /** Of a name that is only looked at among others, a refusal is no event, and not logged. */
  may(
    context: AskingContext,
    operation: AclOperation,
    resourceType: AclResourceType,
    name: string,
    options: { readonly quietly?: boolean } = {},
  ): boolean {
    const asker = askerOf(context);
    const { superUsers, isAllowedWithoutList, logger } = this.#parts;
    if (superUsers.has(asker.principal)) return true;
    const isAllowed = this.acls.book.permits(asker, operation, resourceType, name) ?? isAllowedWithoutList;
    if (!isAllowed && options.quietly !== true) logger.info('Refused an operation', { ...asker, operation, resourceType, name });
    return isAllowed;
  }

  mayOnCluster(context: AskingContext, operation: AclOperation, options: { readonly quietly?: boolean } = {}): boolean {
    return this.may(context, operation, 'Cluster', clusterName, options);
  }

  /** Whether the asker may do so with any resource of the type at all. */
  mayWithAny(context: AskingContext, operation: AclOperation, resourceType: AclResourceType): boolean {
    const asker = askerOf(context);
    if (this.#parts.superUsers.has(asker.principal)) return true;
    return this.acls.book.permitsAny(asker, operation, resourceType, this.#parts.isAllowedWithoutList);
  }

  /** As the bit field of responses. */
  operations(context: AskingContext, kind: 'topic' | 'group' | 'cluster', name: string): number {
    const resourceType = ({ topic: 'Topic', group: 'Group', cluster: 'Cluster' } as const)[kind];
    if (this.#parts.superUsers.has(askerOf(context).principal)) return allOperations(kind);
    return operationsOf(kind, (operation) => this.may(context, operation, resourceType, name, { quietly: true }));
  }
}

function askerOf({ principal, clientAddress }: AskingContext): { readonly principal: string; readonly host: string } {
  return { principal: `${principal.type}:${principal.name}`, host: clientAddress.replace(/^::ffff:(?=\d+\.)/, '') };
}

/** What super.users says: principals with semicolons between them, since names may have commas. */
export function superUsersOf(text: string): Set<string> {
  return new Set(
    text
      .split(';')
      .map((principal) => principal.trim())
      .filter((principal) => principal !== ''),
  );
}
