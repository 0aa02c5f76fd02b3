// What the broker's configuration says about the cleaner of compacted logs.

import type { CleanerSettings } from '@odradek/storage';
import type { BrokerConfig } from './broker-config.ts';

/** Settings that can change while the broker runs. */
const dynamicNames = [
  'log.cleaner.threads',
  'log.cleaner.backoff.ms',
  'log.cleaner.dedupe.buffer.size',
  'log.cleaner.io.buffer.load.factor',
  'log.cleaner.io.buffer.size',
  'log.cleaner.io.max.bytes.per.second',
] as const;

export function cleanerSettings(config: BrokerConfig): CleanerSettings {
  return {
    isEnabled: config.get('log.cleaner.enable'),
    threads: config.get('log.cleaner.threads'),
    backoffMs: config.get('log.cleaner.backoff.ms'),
    dedupeBufferBytes: config.get('log.cleaner.dedupe.buffer.size'),
    ioBufferLoadFactor: config.get('log.cleaner.io.buffer.load.factor'),
    ioBufferBytes: config.get('log.cleaner.io.buffer.size'),
    ioMaxBytesPerSecond: config.get('log.cleaner.io.max.bytes.per.second'),
  };
}

/** Hands on what changes. Answers how to stop it. */
export function followCleanerSettings(
  config: BrokerConfig,
  logManager: { updateCleaner(settings: CleanerSettings): void },
): () => void {
  return config.onChange(dynamicNames, () => logManager.updateCleaner(cleanerSettings(config)));
}
