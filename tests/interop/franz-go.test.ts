// franz-go, the Go client; its program in go/franz-client is built from the Go module proxy.

import { fileURLToPath } from 'node:url';
import { goProgram, needed, runCommand } from '@odradek/testing';
import { readRecordLines, writeRecordLines } from './record-lines.ts';
import { allCodecs, roundTripTests } from './round-trip.ts';

const client = await goProgram('franz-client', fileURLToPath(new URL('go/franz-client', import.meta.url)));

roundTripTests({
  name: 'franz-go',
  tools: [client],
  codecs: allCodecs,
  produce: async (bootstrap, topic, codec, records) => {
    await runCommand(needed(client), ['produce', bootstrap, topic, codec], { stdin: writeRecordLines(records) });
  },
  consume: async (bootstrap, topic, count) => {
    const { stdout } = await runCommand(needed(client), ['consume', bootstrap, topic, String(count)]);
    return readRecordLines(stdout);
  },
});
