// npm run golden -- FOLDER: checks everything in a folder laid out as the golden facts are, and says how much agreed.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkLogs } from './log.ts';
import { checkMessages } from './messages.ts';
import { checkRecords } from './records.ts';
import { GoldenReport } from './report.ts';

const sections: readonly {
  readonly folder: string;
  readonly check: (directory: string, report: GoldenReport) => void | Promise<void>;
}[] = [
  { folder: 'messages', check: checkMessages },
  { folder: 'records', check: checkRecords },
  { folder: 'log', check: checkLogs },
];

const directory = process.argv[2];
if (directory === undefined || !existsSync(directory)) {
  console.error(directory === undefined ? 'usage: npm run golden -- FOLDER' : `There is no folder ${directory}`);
  process.exit(2);
}

const report = new GoldenReport((line) => console.log(line));
for (const { folder, check } of sections) {
  if (existsSync(join(directory, folder))) await check(directory, report);
}
console.log(report.summary());
process.exitCode = report.failed > 0 ? 1 : 0;
