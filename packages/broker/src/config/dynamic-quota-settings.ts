// Limits that exist as dynamic configurations of a broker only, and never in a file.

import { atLeast, long, maxLong } from '@odradek/runtime';

export const dynamicQuotaSettings = {
  'leader.replication.throttled.rate': long(maxLong, {
    valid: atLeast(0),
    update: 'per-broker',
    doc: 'How many bytes a second this broker sends to throttled followers at most.',
  }),
  'follower.replication.throttled.rate': long(maxLong, {
    valid: atLeast(0),
    update: 'per-broker',
    doc: 'How many bytes a second this broker fetches for throttled replicas at most.',
  }),
  'replica.alter.log.dirs.io.max.bytes.per.second': long(maxLong, {
    valid: atLeast(0),
    update: 'per-broker',
    doc: 'How many bytes a second move between the log directories of this broker at most.',
  }),
};

export type DynamicQuotaName = keyof typeof dynamicQuotaSettings;
