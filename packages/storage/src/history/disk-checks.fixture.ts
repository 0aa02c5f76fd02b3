// Whether what lies on the disk keeps every rule, or breaks only those that the next start mends.

import assert from 'node:assert/strict';
import type { FileSystem } from '@odradek/runtime';
import { cleanShutdownFile } from '../manager/log-directory.ts';
import type { Finding } from '../verify/findings.ts';
import { verifyLogDirectories } from '../verify/verify-directories.ts';

/** After a stop, which is none in order when the disk had failed. What was to be removed a while later may still be there. */
export function checkStoppedDisk(fileSystem: FileSystem, directory: string): void {
  if (fileSystem.statSync(`${directory}/${cleanShutdownFile}`) === undefined) return checkCrashedDisk(fileSystem, directory);
  // A snapshot that a crash has damaged stays until one is looked for there, and then an earlier one takes its place.
  const isHarmless = ({ rule }: Finding): boolean => rule === 'leftover' || rule === 'snapshot-damaged';
  assertNone(findingsOn(fileSystem, directory).filter((finding) => !isHarmless(finding)));
}

/** After a crash, before the next start. */
export function checkCrashedDisk(fileSystem: FileSystem, directory: string): void {
  assertNone(findingsOn(fileSystem, directory).filter(({ isMended }) => !isMended));
}

/**
 * Histories have gaps of all kinds, and no broker that would claim the directory. And when a crash brings deleted records back, because
 * the log start was not on the device, the leader epochs of these are forgotten all the same.
 */
function findingsOn(fileSystem: FileSystem, directory: string): Finding[] {
  // A crash may take all of it.
  if (fileSystem.statSync(directory) === undefined) return [];
  const { findings } = verifyLogDirectories({ fileSystem, directories: [directory], compactedTopics: 'all' });
  const isOfDeleted = ({ rule, detail }: Finding): boolean => rule === 'leader-epoch-agreement' && detail.startsWith('no epoch at');
  return findings.filter((finding) => finding.rule !== 'meta-properties' && !isOfDeleted(finding));
}

function assertNone(findings: readonly Finding[]): void {
  const text = findings.map(({ rule, path, position, detail }) => `${path}:${position ?? ''} ${rule}: ${detail}`);
  assert.deepEqual(text, [], 'what lies on the disk');
}
