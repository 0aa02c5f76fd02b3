// Which entities DescribeClientQuotas is asked for. A filter wants the entities that have all of its components; a strict one wants them
// to have nothing else.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import { entityKey, invalid, type QuotaEntity } from './quota-entities.ts';

/** As the request has it. */
export interface FilterComponent {
  readonly entityType: string;
  readonly matchType: number;
  readonly match: string | null;
}

const matchTypes = { EXACT: 0, DEFAULT: 1, ANY: 2 } as const;

/** A name, null for the default, or any of them. */
type Criterion = { readonly name: string | null } | 'any';

/** Throws INVALID_REQUEST, or UNSUPPORTED_VERSION for kinds of entity that do not exist. */
export function quotaFilter(components: readonly FilterComponent[], isStrict: boolean): (entity: QuotaEntity) => boolean {
  const wanted: Partial<Record<keyof QuotaEntity, Criterion>> = {};
  for (const { entityType, matchType, match } of components) {
    if (entityType === '') throw invalid('Unexpected empty filter component entity type');
    const key = entityKey(entityType);
    if (key === undefined)
      throw new ProtocolError(errorCodes.UNSUPPORTED_VERSION, `Custom entity type '${entityType}' not supported`);
    if (wanted[key] !== undefined) throw invalid(`Duplicate ${entityType} filter component entity type`);
    wanted[key] = criterionOf(matchType, match);
  }
  if (wanted.ip !== undefined && (wanted.user !== undefined || wanted.clientId !== undefined)) {
    throw invalid(
      'Invalid entity filter component combination, IP filter component should not be used with user or clientId filter component.',
    );
  }
  return (entity) =>
    (['user', 'clientId', 'ip'] as const).every((key) => {
      const criterion = wanted[key];
      const name = entity[key];
      if (criterion === undefined) return name === undefined || !isStrict;
      return name !== undefined && (criterion === 'any' || criterion.name === name);
    });
}

function criterionOf(matchType: number, match: string | null): Criterion {
  switch (matchType) {
    case matchTypes.EXACT:
      if (match === null) throw invalid('Request specifies MATCH_TYPE_EXACT, but no match string was specified.');
      return { name: match };
    case matchTypes.DEFAULT:
      if (match !== null) throw invalid('Request specifies MATCH_TYPE_DEFAULT, but a match string was specified.');
      return { name: null };
    case matchTypes.ANY:
      if (match !== null) throw invalid('Request specifies MATCH_TYPE_ANY, but a match string was specified.');
      return 'any';
    default:
      throw invalid(`Unknown match type ${matchType}`);
  }
}
