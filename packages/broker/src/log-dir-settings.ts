// What the broker's configuration says about log directories and the moves between them.

import { resolve } from 'node:path';
import type { LogManager, MoveSettings } from '@odradek/storage';
import { BrokerConfig } from './broker-config.ts';

/** As clients are told them and name them: absolute. */
export function absoluteLogDirs(config: BrokerConfig): string[] {
  return config.logDirs.map((path) => resolve(path));
}

/** Whether a directory gets no new partitions; asked anew each time, because the setting can change while the broker runs. */
export function isCordoned(config: Pick<BrokerConfig, 'get'>, path: string): boolean {
  const cordoned = config.get('cordoned.log.dirs');
  return cordoned.includes('*') || cordoned.some((each) => resolve(each) === path);
}

/**
 * Whether no directory of the broker takes new replicas: by this broker's own configuration, or by what was set for another one. Of
 * that one we do not know the directories, only whether it means all.
 */
export function isBrokerCordoned(configured: BrokerConfig | ReadonlyMap<string, string>): boolean {
  if (configured instanceof BrokerConfig) return absoluteLogDirs(configured).every((path) => isCordoned(configured, path));
  return (
    configured
      .get('cordoned.log.dirs')
      ?.split(',')
      .some((each) => each.trim() === '*') === true
  );
}

export function moveSettings(config: BrokerConfig): MoveSettings {
  return {
    concurrency: config.get('num.replica.alter.log.dirs.threads') ?? config.logDirs.length,
    maxBytesPerSecond: config.quota('replica.alter.log.dirs.io.max.bytes.per.second'),
  };
}

/** Hands on what changes. Answers how to stop it. */
export function followMoveSettings(config: BrokerConfig, logManager: Pick<LogManager, 'updateMoves'>): () => void {
  return config.onChange(['replica.alter.log.dirs.io.max.bytes.per.second'], () => logManager.updateMoves(moveSettings(config)));
}
