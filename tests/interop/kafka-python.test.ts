// kafka-python, a client written in Python alone.

import { fileURLToPath } from 'node:url';
import { findProgram, needed, pythonWith, runCommand } from '@odradek/testing';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

const python = findProgram('python3');
const packages = await pythonWith('kafka-python', [
  'kafka-python==3.0.12',
  'crc32c==2.9.post0',
  'python-snappy==0.7.3',
  'lz4==4.4.5',
  'zstandard==0.25.0',
]);
const program = fileURLToPath(new URL('python/kafka_python_client.py', import.meta.url));

roundTripTests({
  name: 'kafka-python',
  tools: [python, packages],
  codecs: allCodecs,
  produce: async (bootstrap, topic, codec, records) => {
    const env = { PYTHONPATH: needed(packages) };
    await runCommand(needed(python), [program, 'produce', bootstrap, topic, codec], { env, stdin: writeRecordLines(records) });
  },
  consume: async (bootstrap, topic, count) => {
    const env = { PYTHONPATH: needed(packages) };
    const { stdout } = await runCommand(needed(python), [program, 'consume', bootstrap, topic, String(count)], { env });
    return readRecordLines(stdout);
  },
});
