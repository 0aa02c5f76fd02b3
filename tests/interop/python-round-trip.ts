// Clients in Python: a program of ours beside their packages, which produces what comes in and prints what it consumes.

import { fileURLToPath } from 'node:url';
import { findProgram, needed, pythonWith, runCommand } from '@odradek/testing';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

export interface PythonClient {
  readonly name: string;
  /** With their versions. */
  readonly packages: readonly string[];
  /** In the folder `python`. */
  readonly program: string;
}

export async function pythonRoundTripTests({ name, packages, program }: PythonClient): Promise<void> {
  const python = findProgram('python3');
  const installed = await pythonWith(name, packages);
  const path = fileURLToPath(new URL(`python/${program}`, import.meta.url));
  const run = (args: readonly string[], stdin = '') =>
    runCommand(needed(python), [path, ...args], { env: { PYTHONPATH: needed(installed) }, stdin });
  roundTripTests({
    name,
    tools: [python, installed],
    codecs: allCodecs,
    produce: async (bootstrap, topic, codec, records) => {
      await run(['produce', bootstrap, topic, codec], writeRecordLines(records));
    },
    consume: async (bootstrap, topic, count) => readRecordLines((await run(['consume', bootstrap, topic, String(count)])).stdout),
  });
}
