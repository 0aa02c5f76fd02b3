// confluent-kafka, the Python client on a current librdkafka.

import { fileURLToPath } from 'node:url';
import { findProgram, needed, pythonWith, runCommand } from '@odradek/testing';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

const python = findProgram('python3');
const packages = await pythonWith('confluent-kafka', ['confluent-kafka==2.16.1']);
const program = fileURLToPath(new URL('python/confluent_kafka_client.py', import.meta.url));

roundTripTests({
  name: 'confluent-kafka',
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
