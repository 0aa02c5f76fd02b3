// A consumer of a group in a process of its own, so that it can be stopped as well as killed. The programs of all clients speak
// one language on their standard output, a line each:
//
//   + PARTITION…             these partitions are assigned
//   - PARTITION…             these are taken away
//   PARTITION OFFSET VALUE   a record is handled; its offset is committed next

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { until } from '@odradek/testing';

export interface GroupConsumerOptions {
  readonly bootstrap: string;
  readonly group: string;
  readonly topic: string;
  /** Makes it a static member. */
  readonly instanceId?: string;
  readonly assignor?: 'eager' | 'cooperative';
  readonly protocol?: 'classic' | 'consumer';
}

export interface ConsumerProgram {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Reads a line of output that is in another language. */
  readonly parse?: (line: string) => ConsumerEvent | undefined;
}

export type ConsumerEvent =
  | { readonly kind: 'record'; readonly partition: number; readonly offset: number; readonly value: string }
  | { readonly kind: 'assigned' | 'revoked'; readonly partitions: readonly number[] };

export class GroupConsumer {
  readonly records: { readonly partition: number; readonly offset: number; readonly value: string }[] = [];
  readonly rebalances: { readonly kind: 'assigned' | 'revoked'; readonly partitions: readonly number[] }[] = [];
  readonly #child: ChildProcess;
  readonly #parse: (line: string) => ConsumerEvent | undefined;
  #output = '';
  #exit: Promise<unknown>;

  constructor({ program, args, env, parse }: ConsumerProgram) {
    this.#parse = parse ?? parseLine;
    this.#child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#exit = once(this.#child, 'exit');
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      let rest = '';
      stream?.on('data', (chunk: Buffer) => {
        this.#output = (this.#output + chunk.toString()).slice(-20_000);
        rest = this.#take(rest + chunk.toString());
      });
    }
  }

  get output(): string {
    return this.#output;
  }

  get values(): readonly string[] {
    return this.records.map(({ value }) => value);
  }

  /** The partitions that it has now, as far as its program tells. */
  get partitions(): readonly number[] {
    const held = new Set<number>();
    for (const { kind, partitions } of this.rebalances) {
      for (const partition of partitions) {
        if (kind === 'assigned') held.add(partition);
        else held.delete(partition);
      }
    }
    return [...held].sort();
  }

  async until(what: string, condition: (consumer: this) => boolean, timeoutMs = 60_000): Promise<void> {
    try {
      await until(what, () => condition(this), { timeoutMs, everyMs: 10 });
    } catch (error) {
      throw new Error(`a consumer did not come so far: ${what}. It said:\n${this.#output.slice(-3000)}`, { cause: error });
    }
  }

  /** Leaves the group in order. */
  async stop(): Promise<void> {
    this.#child.kill('SIGTERM');
    await this.#exit;
  }

  /** Ends without a word. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  /** Reads whole lines, and returns what is left. */
  #take(text: string): string {
    const lines = text.split('\n');
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      const event = this.#parse(line);
      if (event === undefined) continue;
      if (event.kind === 'record') this.records.push(event);
      else this.rebalances.push(event);
    }
    return rest;
  }
}

function parseLine(line: string): ConsumerEvent | undefined {
  const [, sign = '', partitions = ''] = /^([+-])((?: \d+)*)$/.exec(line) ?? [];
  if (sign !== '') {
    const numbers = partitions.split(' ').filter(Boolean).map(Number);
    return { kind: sign === '+' ? 'assigned' : 'revoked', partitions: numbers };
  }
  const [, partition, offset, value] = /^(\d+) (\d+) (.+)$/.exec(line) ?? [];
  if (value === undefined) return undefined;
  return { kind: 'record', partition: Number(partition), offset: Number(offset), value };
}
