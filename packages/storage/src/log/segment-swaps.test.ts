import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { SimulatedWorld } from '@odradek/testing';
import { FilePool } from './file-pool.ts';
import type { LogWorld } from './log-files.ts';
import { batch } from './open-log.fixture.ts';
import { finishSegmentSwaps } from './segment-swaps.ts';

const name = (offset: number, ending: string): string => `${String(offset).padStart(20, '0')}${ending}`;

/** Fills a folder, finishes what a crash has left there, and answers what is there then: name → content. */
function finished(files: readonly (readonly [string, string | Buffer])[]): Map<string, string> {
  const world = new SimulatedWorld({ seed: 1 });
  const { fileSystem, logger } = world;
  fileSystem.makeDirectorySync('/log');
  for (const [file, content] of files) fileSystem.replaceFileSync(`/log/${file}`, content);
  const names = finishSegmentSwaps({ fileSystem, logger, pool: new FilePool(fileSystem) } as unknown as LogWorld, '/log');
  assert.deepEqual(names, fileSystem.listSync('/log'));
  return new Map(names.map((file) => [file, fileSystem.readFileSync(`/log/${file}`).toString('latin1')]));
}

/** Three records from 10 on. */
const swapped = batch(['a', 'b', 'c'], { baseOffset: 10 });
const swappedText = swapped.toString('latin1');

describe('a crash while segments were replaced', () => {
  test('nothing was under way', () => {
    assert.deepEqual([...finished([[name(0, '.log'), 'old']])], [[name(0, '.log'), 'old']]);
  });

  test('what was deleted is removed', () => {
    const left = finished([
      [name(0, '.log.deleted'), 'old'],
      [name(0, '.index.deleted'), 'old'],
      [name(5, '.snapshot.deleted'), 'old'],
      [name(5, '.log'), 'kept'],
    ]);
    assert.deepEqual([...left], [[name(5, '.log'), 'kept']]);
  });

  test('a replacement that is not complete is removed, and what was renamed of it already', () => {
    const left = finished([
      [name(0, '.log'), 'old'],
      [name(0, '.log.cleaned'), 'new'],
      [name(0, '.index.swap'), 'new'],
      [name(8, '.log.swap'), 'new'],
    ]);
    assert.deepEqual([...left], [[name(0, '.log'), 'old']]);
  });

  test('a replacement that is complete takes the place of what it covers', () => {
    const left = finished([
      [name(0, '.log'), 'before'],
      [name(10, '.log'), 'old'],
      [name(10, '.index'), 'old'],
      [name(10, '.txnindex'), 'old'],
      [name(12, '.log'), 'old'],
      [name(13, '.log'), 'after'],
      [name(10, '.log.swap'), swapped],
      [name(10, '.index.swap'), 'new index'],
      [name(10, '.timeindex.swap'), 'new timeindex'],
    ]);
    assert.deepEqual(
      [...left],
      [
        [name(0, '.log'), 'before'],
        [name(10, '.index'), 'new index'],
        [name(10, '.log'), swappedText],
        [name(10, '.timeindex'), 'new timeindex'],
        [name(13, '.log'), 'after'],
      ],
    );
  });

  test('indexes whose records were in their place already follow them', () => {
    const left = finished([
      [name(10, '.log'), swapped],
      [name(10, '.timeindex.swap'), 'new'],
    ]);
    assert.deepEqual(
      [...left],
      [
        [name(10, '.log'), swappedText],
        [name(10, '.timeindex'), 'new'],
      ],
    );
  });
});
