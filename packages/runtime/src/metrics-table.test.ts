import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricsTable } from './metrics-table.ts';

test('a name with labels is one counter, whatever the order of the labels', () => {
  const metrics = new MetricsTable();
  metrics.counter('requests', { api: 'Fetch', version: '12' }).value += 2;
  metrics.counter('requests', { version: '12', api: 'Fetch' }).value += 1;
  metrics.counter('requests', { api: 'Produce' }).value += 5;
  assert.deepEqual(
    [...metrics.series()],
    [
      { kind: 'counter', name: 'requests', labels: { api: 'Fetch', version: '12' }, value: 3 },
      { kind: 'counter', name: 'requests', labels: { api: 'Produce' }, value: 5 },
    ],
  );
  assert.throws(() => metrics.histogram('requests', { api: 'Produce' }), /is a counter/);
});

test('a gauge is read when the metrics are, and replaced by another of the same name', () => {
  const metrics = new MetricsTable();
  let size = 1;
  metrics.gauge('size', () => -1);
  metrics.gauge('size', () => size);
  size = 7;
  assert.deepEqual([...metrics.series()], [{ kind: 'gauge', name: 'size', labels: {}, value: 7 }]);
});

test('remove forgets all series that have the labels', () => {
  const metrics = new MetricsTable();
  metrics.counter('bytes', { topic: 'a', partition: '0' });
  metrics.counter('bytes', { topic: 'a', partition: '1' });
  metrics.counter('bytes', { topic: 'b', partition: '0' });
  metrics.remove({ topic: 'a' });
  assert.deepEqual(
    [...metrics.series()].map(({ labels }) => labels),
    [{ topic: 'b', partition: '0' }],
  );
});

test('a histogram gives quantiles within a fifth, and never too low', () => {
  const histogram = new MetricsTable().histogram('tookMs');
  assert.ok(Number.isNaN(histogram.quantile(0.5)));
  for (let value = 1; value <= 1_000; value++) {
    histogram.observe(value);
  }
  assert.equal(histogram.count, 1_000);
  assert.equal(histogram.sum, 500_500);
  for (const quantile of [0, 0.01, 0.5, 0.9, 0.99, 1]) {
    const exact = Math.max(1, quantile * 1_000);
    const given = histogram.quantile(quantile);
    assert.ok(given >= exact && given < exact * 1.2, `${quantile}: ${given}`);
  }
});

test('a histogram takes nothing, less than nothing, and more than it has buckets for', () => {
  const histogram = new MetricsTable().histogram('odd');
  for (const value of [0, -5, 1e300]) {
    histogram.observe(value);
  }
  assert.equal(histogram.count, 3);
  assert.equal(histogram.quantile(0.5), 2 ** -7);
  assert.equal(histogram.quantile(1), Number.POSITIVE_INFINITY);
});

test('asks collectors for their series when it is read out', () => {
  const metrics = new MetricsTable();
  let value = 1;
  const stop = metrics.collect(() => [{ kind: 'gauge', name: 'group_lag', labels: { group: 'g' }, value }]);
  value = 2;
  assert.deepEqual([...metrics.series()], [{ kind: 'gauge', name: 'group_lag', labels: { group: 'g' }, value: 2 }]);
  stop();
  assert.deepEqual([...metrics.series()], []);
});
