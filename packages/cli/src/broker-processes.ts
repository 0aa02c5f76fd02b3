// The brokers of a cluster as processes of their own, `odradek start` each. They end when this process ends, however it does; one that ends
// by itself or is killed leaves the others alone.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { ClusterBroker, ClusterPlan } from './cluster-properties.ts';
import type { RunningBrokers } from './commands/cluster.ts';
import { LineCutter, labelled } from './labelled-lines.ts';
import type { StartArguments } from './start-arguments.ts';

export async function startBrokerProcesses(plan: ClusterPlan, given: StartArguments): Promise<RunningBrokers> {
  const brokers = plan.brokers.map((broker) => new BrokerProcess(broker, given));
  const stop = (): Promise<unknown> => Promise.all(brokers.map((broker) => broker.stop()));
  let bootstrap: string[];
  try {
    bootstrap = await Promise.all(brokers.map(({ ready }) => ready));
  } catch (error) {
    await stop();
    throw error;
  }
  const allEnded = Promise.all(brokers.map((broker) => broker.ended));
  return { bootstrap, failed: allEnded.then(() => new Error('No broker is left')), stop };
}

class BrokerProcess {
  /** The broker's bootstrap address; rejects when it has ended before. */
  readonly ready: Promise<string>;
  readonly ended: Promise<void>;
  readonly #child: ChildProcess;
  #isReady = false;
  #isStopping = false;

  constructor({ id, own }: ClusterBroker, { file, overrides }: StartArguments) {
    // What the file says, the process reads for itself: a password in it is not for the list of processes.
    const args = [
      ...process.execArgv,
      process.argv[1] ?? '',
      'start',
      ...(file === undefined ? [] : [file]),
      ...overrides.map((override) => `--override=${override}`),
      ...[...own].map(([name, value]) => `--override=${name}=${value}`),
    ];
    // In a process group of its own, so that Ctrl-C reaches this process alone, which then stops each broker once.
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], detached: true });
    this.#child = child;
    const killChild = (): boolean => child.kill('SIGKILL');
    process.once('exit', killChild);
    const [output, errors] = [new LineCutter(), new LineCutter()];
    let lastWords = '';
    child.stdout?.on('data', (piece: Buffer) => process.stdout.write(labelled(id, output.take(piece.toString()))));
    child.stderr?.on('data', (piece: Buffer) => {
      const lines = errors.take(piece.toString());
      if (this.#isReady) process.stderr.write(labelled(id, lines));
      else lastWords += lines;
    });
    this.ended = once(child, 'close').then(([exitCode, signal]) => {
      process.removeListener('exit', killChild);
      if (this.#isReady && !this.#isStopping) {
        process.stderr.write(`odradek: broker ${id} has ended with ${exitCode ?? signal}; the others go on\n`);
      }
    });
    this.ready = Promise.race([
      once(child, 'message').then(([message]) => {
        this.#isReady = true;
        return bootstrapIn(message);
      }),
      this.ended.then(() => {
        const reason = lastWords.trim().replace(/^odradek: /, '') || `it ended with ${child.exitCode ?? child.signalCode}`;
        throw new Error(`Broker ${id} could not start: ${reason}`);
      }),
    ]);
    this.ready.catch(() => undefined); // Another may be the first that cannot start.
  }

  stop(): Promise<void> {
    this.#isStopping = true;
    this.#child.kill('SIGTERM');
    return this.ended;
  }
}

function bootstrapIn(message: unknown): string {
  const isOne = typeof message === 'object' && message !== null && 'bootstrap' in message;
  return isOne ? String(message.bootstrap) : '';
}
