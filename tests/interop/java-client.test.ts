// The newest Java client with its defaults, which are idempotent.

import { needed } from '@odradek/testing';
import { modernClient, runJava } from './java.ts';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

const client = await modernClient();

roundTripTests({
  name: 'kafka-clients 4.4.0',
  tools: [client],
  codecs: allCodecs,
  produce: async (bootstrap, topic, codec, records) => {
    await runJava(needed(client), 'ModernClient', ['produce', bootstrap, topic, codec], { stdin: writeRecordLines(records) });
  },
  consume: async (bootstrap, topic, count) => {
    const { stdout } = await runJava(needed(client), 'ModernClient', ['consume', bootstrap, topic, String(count)]);
    return readRecordLines(stdout);
  },
});
