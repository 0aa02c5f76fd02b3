// Whom a quota is for. An entity is a user, a client id, both, or an address; null stands for all that have none of their own.
//
//   /config/users/U            user U              /config/clients/C   client id C
//   /config/users/U/clients/C  client id C of U    /config/ips/I       address I          <default> for null

import { type ConfigEntityType, defaultEntityName, desanitizeName, sanitizeName } from '@odradek/coordination';
import { errorCodes, ProtocolError } from '@odradek/protocol';
import type { ConfigEntity } from '../admin/config-nodes.ts';

/** undefined: the entity says nothing about it. */
export interface QuotaEntity {
  readonly user?: string | null;
  readonly clientId?: string | null;
  readonly ip?: string | null;
}

/** As requests name it. */
export interface EntityPart {
  readonly entityType: string;
  readonly entityName: string | null;
}

/** Throws INVALID_REQUEST. Whether an address is one is for others to say. */
export function quotaEntity(parts: readonly EntityPart[]): QuotaEntity {
  if (parts.length === 0) throw invalid('Invalid empty client quota entity');
  const entity: { user?: string | null; clientId?: string | null; ip?: string | null } = {};
  for (const { entityType, entityName } of parts) {
    const key = entityKey(entityType);
    if (key === undefined) throw invalid(`Unhandled client quota entity type: ${entityType}`);
    if (entityName === '') throw invalid(`Empty ${entityType} not supported`);
    if (entity[key] !== undefined) throw invalid(`Invalid client quota entity, duplicate entity entry ${entityType}`);
    entity[key] = entityName;
  }
  if (entity.ip !== undefined && (entity.user !== undefined || entity.clientId !== undefined)) {
    throw invalid('Invalid quota entity combination, IP entity should not be used with user/client ID entity.');
  }
  return entity;
}

export function entityKey(entityType: string): keyof QuotaEntity | undefined {
  switch (entityType) {
    case 'user':
      return 'user';
    case 'client-id':
      return 'clientId';
    case 'ip':
      return 'ip';
    default:
      return undefined;
  }
}

export function entityParts({ user, clientId, ip }: QuotaEntity): EntityPart[] {
  const parts: EntityPart[] = [];
  if (user !== undefined) parts.push({ entityType: 'user', entityName: user });
  if (clientId !== undefined) parts.push({ entityType: 'client-id', entityName: clientId });
  if (ip !== undefined) parts.push({ entityType: 'ip', entityName: ip });
  return parts;
}

export function entityNode({ user, clientId, ip }: QuotaEntity): ConfigEntity {
  if (ip !== undefined) return { type: 'ips', path: segmentOf(ip) };
  if (user === undefined) return { type: 'clients', path: segmentOf(clientId ?? null) };
  if (clientId === undefined) return { type: 'users', path: segmentOf(user) };
  return { type: 'users', path: `${segmentOf(user)}/clients/${segmentOf(clientId)}` };
}

/** undefined: no node of a quota. */
export function entityAt(type: ConfigEntityType, path: string): QuotaEntity | undefined {
  const [first = '', clients, second, ...rest] = path.split('/');
  if (type === 'clients' && clients === undefined) return { clientId: nameOf(first) };
  if (type === 'ips' && clients === undefined) return { ip: nameOf(first) };
  if (type !== 'users' || rest.length > 0) return undefined;
  if (clients === undefined) return { user: nameOf(first) };
  return clients === 'clients' && second !== undefined ? { user: nameOf(first), clientId: nameOf(second) } : undefined;
}

function segmentOf(name: string | null): string {
  return name === null ? defaultEntityName : sanitizeName(name);
}

function nameOf(segment: string): string | null {
  return segment === defaultEntityName ? null : desanitizeName(segment);
}

export function invalid(message: string): ProtocolError {
  return new ProtocolError(errorCodes.INVALID_REQUEST, message);
}
