// `odradek storage verify`: what does not hold in log directories that no broker is using.

import { readFileSync } from 'node:fs';
import { builtInProperties } from '@odradek/broker';
import { NodeFileSystem, type Properties, parseProperties } from '@odradek/runtime';
import { type Finding, verifyLogDirectories } from '@odradek/storage';

export interface VerifyArguments {
  readonly dataDir?: readonly string[];
  readonly topic?: readonly string[];
  readonly compacted?: readonly string[];
  readonly json?: boolean;
}

export async function verifyStorage(file: string | undefined, options: VerifyArguments): Promise<void> {
  const { dataDir = [], topic = [], compacted = [], json = false } = options;
  try {
    const properties = file === undefined ? builtInProperties : parseProperties(readFileSync(file, 'utf8'));
    const directories = dataDir.length > 0 ? dataDir : directoriesOf(properties);
    const isEachCompacted = properties.get('log.cleanup.policy')?.includes('compact') === true;
    const report = verifyLogDirectories({
      fileSystem: new NodeFileSystem(),
      directories,
      ...(topic.length === 0 ? {} : { topics: new Set(topic) }),
      compactedTopics: isEachCompacted ? 'all' : new Set(compacted),
      onFinding: (finding) => process.stdout.write(`${json ? JSON.stringify(finding) : printFinding(finding)}\n`),
    });
    const { logs, segments, batches, findings } = report;
    const mended = findings.filter(({ isMended }) => isMended).length;
    const summary = { directories, logs, segments, batches, findings: findings.length, mended };
    process.stdout.write(`${json ? JSON.stringify(summary) : printSummary(summary)}\n`);
    if (findings.length > 0) process.exitCode = 1;
    if (topic.length > 0 && logs === 0) {
      process.stderr.write(`odradek: there is no log of ${topic.join(' or ')} in ${directories.join(', ')}\n`);
      process.exitCode = 1;
    }
  } catch (error) {
    // Of what is given or found, not of ours: a directory that is in use or not there, a file that cannot be read.
    if (!(error instanceof Error && ('code' in error || error.name === 'DirectoryInUseError'))) throw error;
    process.stderr.write(`odradek: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function directoriesOf(properties: Properties): string[] {
  const named = properties.get('log.dirs') ?? properties.get('log.dir') ?? builtInProperties.get('log.dirs') ?? '';
  return named
    .split(',')
    .map((directory) => directory.trim())
    .filter((directory) => directory !== '');
}

function printFinding({ rule, path, position, detail, isMended }: Finding): string {
  const place = position === undefined ? path : `${path}:${position}`;
  return `${place}: ${rule}: ${detail}${isMended ? ' (mended)' : ''}`;
}

interface Summary {
  readonly logs: number;
  readonly segments: number;
  readonly batches: number;
  readonly findings: number;
  readonly mended: number;
}

function printSummary({ logs, segments, batches, findings, mended }: Summary): string {
  const looked = `${logs} logs, ${segments} segments, ${batches} batches`;
  if (findings === 0) return `${looked}: nothing was found`;
  return `${looked}: ${findings} ${findings === 1 ? 'finding' : 'findings'}, ${mended} of which the next start mends`;
}
