// A consumer group of foreign members (two of librdkafka and whoever else is asked for) that read and commit all the while, whatever happens to
// the brokers. Each is a process of its own.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { until } from '@odradek/testing';
import { librdkafka, type SteadyProgram, startSteadyProgram } from './steady-load.ts';

const closeLimitMs = 30_000;

export interface SteadyGroupOptions {
  readonly bootstrap: string;
  readonly group: string;
  readonly topic: string;
  readonly more?: readonly SteadyProgram[];
}

export class SteadyGroup {
  /** Every record that a member has seen, as `PARTITION VALUE`. */
  readonly seen = new Set<string>();
  /** What must not be: offsets that went back. */
  readonly #problems: string[] = [];
  /** By partition, the highest offset whose commit was acknowledged. */
  readonly #committed = new Map<number, number>();
  readonly #troubles: string[] = [];
  readonly #members: readonly ChildProcess[];

  constructor({ bootstrap, group, topic, more = [] }: SteadyGroupOptions) {
    this.#members = [librdkafka, librdkafka, ...more].map((program, index) =>
      startSteadyProgram(program, 'consume', [bootstrap, group, topic], (line) => this.#take(`${program.name} ${index}`, line)),
    );
  }

  /** Commits so far, as the sum of the offsets. */
  get progress(): number {
    return [...this.#committed.values()].reduce((sum, offset) => sum + offset, 0);
  }

  /** Waits until the group has seen all of these, and committed more than before. */
  async untilSeen(values: readonly string[]): Promise<void> {
    let missing: string[] = [];
    const hasAll = (): boolean => {
      missing = values.filter((value) => !this.seen.has(value));
      return missing.length === 0;
    };
    try {
      await until('the group has seen every acknowledged record', hasAll, { timeoutMs: 120_000, everyMs: 100 });
    } catch (error) {
      const some = `${missing.slice(0, 20).join(', ')}; the members said ${this.#troubles.slice(-20).join('; ')}`;
      throw new Error(`${missing.length} acknowledged records were never seen by the group: ${some}`, { cause: error });
    }
  }

  /** Ends the members in order. Fails when a committed offset ever went back. */
  async stop(): Promise<void> {
    const ended = this.#members.map((member) => once(member, 'close'));
    for (const member of this.#members) member.stdin?.end();
    // librdkafka was seen to close for ever, when its group was empty long since. What is looked at has been said by then.
    const patience = setTimeout(() => this.abandon(), closeLimitMs);
    await Promise.all(ended);
    clearTimeout(patience);
    assert.deepEqual(this.#problems, []);
  }

  /** For the end of a test that failed. */
  abandon(): void {
    for (const member of this.#members) member.kill('SIGKILL');
  }

  #take(member: string, line: string): void {
    const [, what = '', partition = '', said = ''] = /^(\w+) (\S+) ?(.*)$/.exec(line) ?? [];
    const [index, offset] = [Number(partition), Number(said)];
    const committed = this.#committed.get(index) ?? -1;
    if (what === 'seen') this.seen.add(`${partition} ${said}`);
    // The lines of two members come in no certain order; their offsets only grow.
    else if (what === 'committed') this.#committed.set(index, Math.max(committed, offset));
    else if (what === 'trouble') this.#troubles.push(`${member}: ${line}`);
    else if (what === 'assigned' && offset < committed) {
      this.#problems.push(`partition ${index} went on from ${offset} after ${committed} had been committed`);
    }
  }
}
