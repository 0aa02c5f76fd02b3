// What lies in the directories of a broker that has been killed or stopped keeps every rule, or breaks only those that a start mends.

import assert from 'node:assert/strict';
import { NodeFileSystem } from '@odradek/runtime';
import { type Finding, verifyLogDirectories } from '@odradek/storage';

export function assertMendable(directories: readonly string[]): void {
  assertNone(findingsIn(directories).filter(({ isMended }) => !isMended));
}

/** What was to be removed a while later may still be there. */
export function assertInOrder(directories: readonly string[]): void {
  assertNone(findingsIn(directories).filter(({ rule }) => rule !== 'leftover'));
}

function findingsIn(directories: readonly string[]): readonly Finding[] {
  return verifyLogDirectories({ fileSystem: new NodeFileSystem(), directories }).findings;
}

function assertNone(findings: readonly Finding[]): void {
  assert.deepEqual(
    findings.map(({ rule, path, position, detail }) => `${path}:${position ?? ''} ${rule}: ${detail}`),
    [],
  );
}
