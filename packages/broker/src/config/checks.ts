// Rules that only one or two settings follow.

import type { Check } from '@odradek/runtime';

/** A gzip level, or -1 for the library's default. */
export const gzipLevel: Check = {
  description: '[1,...,9] or -1',
  problem: (value) =>
    value === -1 || ((value as number) >= 1 && (value as number) <= 9) ? undefined : 'Value must be between 1 and 9, or -1',
};

/** All replicas (`*`), or pairs of partition and broker. */
export const throttledReplicas: Check = {
  description: '[partitionId]:[brokerId],[partitionId]:[brokerId],...',
  problem: (value) => {
    const entries = value as readonly string[];
    if (entries.length === 1 && entries[0] === '*') return undefined;
    return entries.every((entry) => /^\d+:\d+$/.test(entry))
      ? undefined
      : 'Value must be * or a list of [partitionId]:[brokerId] with commas between them';
  },
};

/** Where a share group begins. */
export const offsetReset: Check = {
  description: '[latest, earliest, by_duration:PnDTnHnMn.nS]',
  problem: (value) => {
    const text = value as string;
    if (text === 'latest' || text === 'earliest') return undefined;
    return /^by_duration:P(?=.)(\d+D)?(T(?=.)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?$/.test(text)
      ? undefined
      : 'Value must be latest, earliest or by_duration: and a time span such as PT1H30M';
  },
};

/** KRaft's addresses are not read, so nothing about them can be wrong. */
export const quorumAddresses: Check = { description: 'non-empty list', problem: () => undefined };

/** The releases up to 3.9 between which the protocol among brokers or the record format changed. */
const protocolVersions =
  '0.8.0, 0.8.1, 0.8.2, 0.9.0, 0.10.0-IV0, 0.10.0-IV1, 0.10.1-IV0, 0.10.1-IV1, 0.10.1-IV2, 0.10.2-IV0, 0.11.0-IV0, 0.11.0-IV1, 0.11.0-IV2, ' +
  '1.0-IV0, 1.1-IV0, 2.0-IV0, 2.0-IV1, 2.1-IV0, 2.1-IV1, 2.1-IV2, 2.2-IV0, 2.2-IV1, 2.3-IV0, 2.3-IV1, 2.4-IV0, 2.4-IV1, 2.5-IV0, 2.6-IV0, ' +
  '2.7-IV0, 2.7-IV1, 2.7-IV2, 2.8-IV0, 2.8-IV1, 3.0-IV0, 3.0-IV1, 3.1-IV0, 3.2-IV0, 3.3-IV0, 3.3-IV1, 3.3-IV2, 3.3-IV3, 3.4-IV0, 3.5-IV0, ' +
  '3.5-IV1, 3.5-IV2, 3.6-IV0, 3.6-IV1, 3.6-IV2, 3.7-IV0, 3.7-IV1, 3.7-IV2, 3.7-IV3, 3.7-IV4, 3.8-IV0, 3.9-IV0, 4.0-IV0, 4.0-IV1';

/** A release, with or without its internal version: 3.9, 3.9-IV0; patch numbers are allowed, as in 2.8.1. */
export const protocolVersion: Check = {
  description: `[${protocolVersions}]`,
  problem: (value) => {
    const text = value as string;
    const known = protocolVersions.split(', ');
    const release = text.startsWith('0.') ? /^0\.\d+\.\d+/.exec(text)?.[0] : /^\d+\.\d+/.exec(text)?.[0];
    const isKnown =
      known.includes(text) ||
      (/^[\d.]+$/.test(text) && known.some((version) => version === release || version.startsWith(`${release}-`)));
    return isKnown ? undefined : 'not a release of Apache Kafka between 0.8.0 and 4.0';
  },
};
