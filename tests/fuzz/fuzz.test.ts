// A fixed few thousand random and mutated frames on every API and version; the long run is `npm run fuzz`.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brokerUnderTest } from '@odradek/testing';
import { fuzz } from './fuzz-run.ts';

const frames = Number(process.env['ODRADEK_FUZZ_FRAMES'] ?? 6000);
const seed = Number(process.env['ODRADEK_FUZZ_SEED'] ?? 20241);

test(`${frames} frames of seed ${seed} neither crash nor block the broker`, async () => {
  const broker = await brokerUnderTest();
  const { odradek } = broker;
  try {
    const report = await fuzz({ host: broker.host, port: broker.port, frames, seed, ...(odradek && { pid: odradek.pid }) });
    assert.equal(report.answered + report.closed + report.waited, report.frames);
    assert.ok(report.answered > frames / 10, JSON.stringify(report));
    assert.ok(report.closed > frames / 10, JSON.stringify(report));
    if (odradek !== undefined) {
      assert.ok(report.residentMiB < report.residentMiBAfterWarmUp + 150, JSON.stringify(report));
      // What the frames left on disk does not hinder the next start.
      assert.ok(odradek.isRunning);
      await odradek.stop();
      await odradek.start();
    }
  } catch (error) {
    throw new Error(`seed ${seed}; the broker said:\n${odradek?.output.slice(-6000)}`, { cause: error });
  } finally {
    await broker.close();
  }
});
