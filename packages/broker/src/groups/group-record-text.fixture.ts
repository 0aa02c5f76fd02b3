// A record of `__consumer_offsets` as a line of text, for golden scripts. Times are told from a start.

import type { CoordinatorRecord } from '../coordinator/coordinator-shard.ts';
import { decodeGroupRecord } from './group-records.ts';

export function printGroupRecord(record: CoordinatorRecord, startMs: number): string {
  const decoded = decodeGroupRecord(record);
  if (decoded === null) return 'an unknown record';
  const version = record.value === null ? '' : ` v${record.value.readInt16BE(0)}`;
  const key = Object.values(decoded.key).join(' ');
  const since = (ms: number): string => (ms === -1 ? 'never' : `${(ms - startMs) / 1000}s`);
  if (decoded.value === null) return `${decoded.kind} ${key} tombstone`;
  switch (decoded.kind) {
    case 'offsetCommit': {
      const { offset, metadata, commitTimestamp, expireTimestamp } = decoded.value;
      const expires = expireTimestamp === -1 ? '' : `, expires ${since(expireTimestamp)}`;
      return `${decoded.kind}${version} ${key}: ${offset} "${metadata}" at ${since(commitTimestamp)}${expires}`;
    }
    case 'groupMetadata': {
      const { protocolType, generation, protocol, leader, currentStateTimestamp, members } = decoded.value;
      const each = members.map(({ memberId, groupInstanceId, assignment }) =>
        [memberId, groupInstanceId === null ? '' : `/${groupInstanceId}`, ` "${assignment}"`].join(''),
      );
      return `${decoded.kind}${version} ${key}: ${protocolType || '-'}/${protocol ?? '-'} generation ${generation}, leader ${leader ?? '-'}, since ${since(currentStateTimestamp)}, [${each.join(', ')}]`;
    }
    default:
      return `${decoded.kind}${version} ${key}: ${text(decoded.value)}`;
  }
}

function text(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => {
    const isBuffer = typeof inner === 'object' && inner !== null && (inner as { type?: unknown }).type === 'Buffer';
    return isBuffer ? Buffer.from((inner as { data: number[] }).data).toString('latin1') : inner;
  });
}
