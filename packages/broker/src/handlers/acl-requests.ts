// What the requests for access lists have in common.

import { errorCodes, ProtocolError } from '@odradek/protocol';
import { coordinationFailure } from '../controller/coordination-failure.ts';
import type { AclBinding, AclEntry, AclPattern } from '../security/acl.ts';

/** Without an authorizer nobody reads the lists, and there are none. */
export function securityDisabled(): ProtocolError {
  return new ProtocolError(errorCodes.SECURITY_DISABLED, 'No Authorizer is configured.');
}

/** Changes what there is for one pattern together. Answers for which bindings that has failed. */
export async function changeByPattern(
  bindings: readonly AclBinding[],
  change: (pattern: AclPattern, entries: readonly AclEntry[]) => Promise<void>,
): Promise<ReadonlyMap<AclBinding, ProtocolError>> {
  const errors = new Map<AclBinding, ProtocolError>();
  const byPattern = Map.groupBy(bindings, ({ pattern: { resourceType, patternType, name } }) =>
    [resourceType, patternType, name].join(' '),
  );
  await Promise.all(
    Array.from(byPattern.values(), async (together) => {
      const [first] = together;
      if (first === undefined) return;
      try {
        await change(
          first.pattern,
          together.map(({ entry }) => entry),
        );
      } catch (error) {
        for (const binding of together) errors.set(binding, coordinationFailure(error));
      }
    }),
  );
  return errors;
}
