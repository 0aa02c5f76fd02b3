// `odradek start`: a broker in the foreground, until SIGINT or SIGTERM.

import { existsSync } from 'node:fs';
import { type Broker, startBroker } from '@odradek/broker';
import { ConfigError, type Properties } from '@odradek/runtime';
import { coordinationFolder } from '../cluster-properties.ts';
import { describe, heardSignal, logOptions, readProperties, stopAndExit } from '../foreground.ts';
import { trimMemoryWhenQuiet } from '../memory-trimmer.ts';
import type { StartArguments } from '../start-arguments.ts';
import { version } from '../version.ts';

/** Returns when the broker is up; the process then lives until it is told to stop. */
export async function start(options: StartArguments): Promise<void> {
  // Heard from the first moment, so that a signal during the start is not lost.
  const stopSignal = heardSignal();
  const stopping = new AbortController();
  let isReady = false;
  void stopSignal.then(() => {
    if (!isReady) stopping.abort();
  });
  let broker: Broker;
  try {
    const properties = readProperties(options);
    ensureNoCluster(properties);
    broker = await startBroker({
      properties,
      version: version(),
      startedMs: 0,
      signal: stopping.signal,
      log: logOptions(process.env),
    });
  } catch (error) {
    const reason = stopping.signal.aborted ? 'the broker was told to stop before it was ready' : describe(error);
    process.stderr.write(`odradek: ${reason}\n`);
    process.exit(1);
  }
  isReady = true;
  // For `odradek cluster`, when it has started this process.
  process.send?.({ bootstrap: broker.bootstrap });
  trimMemoryWhenQuiet();
  const reason = await Promise.race([stopSignal, broker.failed]);
  await stopAndExit('the broker', typeof reason === 'string' ? 0 : 1, () => broker.close());
}

/** In the directory of a cluster a single broker would begin anew, with none of the topics, and the cluster would be kept out of it from then on. */
function ensureNoCluster(properties: Properties): void {
  const directories = (properties.get('log.dirs') ?? properties.get('log.dir') ?? '')
    .split(',')
    .map((directory) => directory.trim());
  const shared = directories.find(
    (directory) => existsSync(coordinationFolder(directory)) && !existsSync(`${directory}/meta.properties`),
  );
  if (shared === undefined) return;
  throw new ConfigError(
    `${shared} holds the data of a cluster: start it with \`odradek cluster\`, or name another directory with --override log.dirs=DIRECTORY`,
  );
}
