// `npm run fuzz -- --frames N --seed S [--connections C] [--bootstrap HOST:PORT]`: the long run. Without a bootstrap address it
// starts a broker of its own, watches its memory, and starts it again on the data it leaves.

import { parseArgs } from 'node:util';
import { startOdradekProcess } from '@odradek/testing';
import { type FuzzReport, fuzz } from './fuzz-run.ts';

const { values } = parseArgs({
  options: {
    frames: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
    connections: { type: 'string', default: '8' },
    bootstrap: { type: 'string' },
  },
});

console.log(`fuzz --frames ${values.frames} --seed ${values.seed} --connections ${values.connections}`);
const startedMs = performance.now();
const options = {
  frames: Number(values.frames),
  seed: Number(values.seed),
  connections: Number(values.connections),
  report: (progress: FuzzReport) =>
    console.log(`${Math.round((performance.now() - startedMs) / 1000)} s`, JSON.stringify(progress)),
};

if (values.bootstrap !== undefined) {
  const [host = '', port = ''] = values.bootstrap.split(':');
  console.log(JSON.stringify(await fuzz({ ...options, host, port: Number(port) })));
} else {
  await using odradek = await startOdradekProcess();
  try {
    const report = await fuzz({ ...options, host: odradek.host, port: odradek.port, pid: odradek.pid });
    await odradek.stop();
    await odradek.start();
    console.log('passed', JSON.stringify(report));
  } catch (error) {
    console.error(error);
    console.error(odradek.output.slice(-10_000));
    process.exitCode = 1;
  }
}
