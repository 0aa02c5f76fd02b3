// The histories that chance can play: one of a log, and one of a log that is compacted. The same seed plays the same history.

import { CleanerHistory } from './cleaner-history.fixture.ts';
import { LogHistory } from './log-history.fixture.ts';

export interface History {
  readonly name: string;
  /** Rejects with all that happened when the log is not what it must be. */
  play(seed: number): Promise<void>;
}

export const histories: readonly History[] = [
  { name: 'log', play: playLog },
  { name: 'cleaner', play: playCleaner },
];

async function playLog(seed: number): Promise<void> {
  const history = new LogHistory(seed);
  try {
    await history.play(80);
  } catch (error) {
    throw new Error(`Seed ${seed} fails after:\n${history.steps.join('\n')}\n${history.logText}`, { cause: error });
  }
}

async function playCleaner(seed: number): Promise<void> {
  const history = new CleanerHistory(seed);
  try {
    await history.play(120);
  } catch (error) {
    throw new Error(`Seed ${seed} fails after:\n${history.steps.join(', ')}\n${history.text}`, { cause: error });
  }
}
