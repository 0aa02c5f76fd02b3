// Compares our record batches with what Apache Kafka wrote and read: the folder `records` of the golden facts.
//
// batches-*.jsonl.gz: every batch must decode to its facts. Uncompressed ones must encode to the same bytes again; compressed
// bytes depend on the codec's library, so those must come back to the same records. What Kafka refuses to build we must
// refuse. corrupt.jsonl: damaged bytes must fail at the same step for the same kind of reason. primitives.json: varints and
// checksums.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { checkBatchCase } from './record-batches.ts';
import { checkCorruptCase } from './record-damage.ts';
import { checkPrimitives } from './record-primitives.ts';
import type { GoldenReport } from './report.ts';

export function checkRecords(directory: string, report: GoldenReport): void {
  const folder = join(directory, 'records');
  if (!existsSync(folder)) {
    report.skip();
    return;
  }
  for (const file of readdirSync(folder).sort()) {
    const path = join(folder, file);
    if (file.startsWith('batches')) {
      for (const facts of linesOf(path)) report.check(`records/${file} ${facts['case']}`, () => checkBatchCase(facts));
    } else if (file.startsWith('corrupt')) {
      for (const facts of linesOf(path)) report.check(`records/${file} ${facts['case']}`, () => checkCorruptCase(facts));
    } else if (file.startsWith('primitives')) {
      for (const check of checkPrimitives(JSON.parse(textOf(path)))) report.check(`records/${file} ${check.name}`, check.run);
    } else {
      report.skip();
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the facts are JSON of many shapes, and each check compares them field by field.
export type Facts = Record<string, any>;

function linesOf(path: string): Facts[] {
  return textOf(path)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function textOf(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
}
