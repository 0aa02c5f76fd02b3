// What can be set for a subscription to the metrics of clients.

import { int, list, type SettingScalar } from '@odradek/runtime';

const interval = {
  description: '[100,...,3600000]',
  problem: (value: SettingScalar) =>
    (value as number) >= 100 && (value as number) <= 3_600_000
      ? undefined
      : 'Value must be between 100 and 3600000, that is a tenth of a second and an hour',
};

/** What a client can be recognised by. */
const clientProperties = [
  'client_instance_id',
  'client_id',
  'client_software_name',
  'client_software_version',
  'client_source_address',
  'client_source_port',
];

const selectors = {
  description: '',
  problem: (value: SettingScalar) => {
    for (const selector of value as readonly string[]) {
      const [name = '', pattern] = selector.split(/=(.*)/s);
      if (!clientProperties.includes(name.trim())) return `${name.trim()} is not one of ${clientProperties.join(', ')}`;
      if (pattern === undefined || pattern.trim() === '') return `${selector} must look like property=pattern`;
      try {
        new RegExp(pattern);
      } catch {
        return `${pattern} is not a regular expression`;
      }
    }
    return undefined;
  },
};

export const clientMetricsSettings = {
  metrics: list('', { doc: 'The metrics asked for, by the beginning of their names; * asks for all, nothing for none.' }),
  'interval.ms': int(300000, { valid: interval, doc: 'How often clients send the metrics, in milliseconds.' }),
  match: list('', {
    valid: selectors,
    doc: 'Which clients are asked, as property=pattern with commas between them; all patterns must fit. Nothing means every client.',
  }),
};
