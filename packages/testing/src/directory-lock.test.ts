// The lock on a data directory, against the two that matter: Apache Kafka's, and a process that died without releasing it.

import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { NodeFileSystem } from '@odradek/runtime';
import { findProgram, needed, skipWithout } from './foreign/machine-tools.ts';
import { runCommand } from './foreign/run-command.ts';

const temporary = mkdtempSync(join(tmpdir(), 'odradek-lock-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** Takes the lock as Apache Kafka does, says how it went, and holds it until its input ends. */
const javaSource = `
import java.nio.channels.*; import java.nio.file.*;
public class Lock {
  public static void main(String[] args) throws Exception {
    FileChannel channel = FileChannel.open(Path.of(args[0]), StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    FileLock lock = channel.tryLock();
    System.out.println(lock == null ? "refused" : "locked");
    while (System.in.read() >= 0) {}
  }
}`;
const javaFile = join(temporary, 'Lock.java');
writeFileSync(javaFile, javaSource);
const java = findProgram('java');

/** The first line that a program prints. */
function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.stdout!.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()));
  });
}

test('Java cannot lock what we hold, and can when we have released it', { skip: skipWithout(java) }, async () => {
  const directory = mkdtempSync(join(temporary, 'case-'));
  const lock = new NodeFileSystem().lockDirectorySync(directory);
  const tryInJava = async (): Promise<string> => {
    const { stdout } = await runCommand(needed(java), [javaFile, join(directory, '.lock')]);
    return stdout.toString().trim();
  };
  assert.equal(await tryInJava(), 'refused');
  lock.release();
  assert.equal(await tryInJava(), 'locked');
  assert.equal(readFileSync(join(directory, '.lock')).byteLength, 0);
});

test('we cannot lock what Java holds, and can when it has ended', { skip: skipWithout(java) }, async () => {
  const directory = mkdtempSync(join(temporary, 'case-'));
  const holder = spawn(needed(java), [javaFile, join(directory, '.lock')], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => holder.once('close', resolve));
  assert.equal(await firstLine(holder), 'locked');
  const fileSystem = new NodeFileSystem();
  assert.throws(() => fileSystem.lockDirectorySync(directory), /is locked: another broker/);
  holder.stdin.end();
  await ended;
  fileSystem.lockDirectorySync(directory).release();
});

/** A module that locks the directory, says how it went, and holds it until its input ends. */
const lockingScript = (directory: string): string => `
    import { NodeFileSystem } from '@odradek/runtime';
    try {
      new NodeFileSystem().lockDirectorySync(${JSON.stringify(directory)});
      console.log('locked');
      process.stdin.resume();
    } catch (error) {
      console.log(error.message);
    }`;

function startLocking(directory: string): ChildProcess {
  const args = ['--conditions=odradek-source', '--input-type=module', '-e', lockingScript(directory)];
  return spawn(process.execPath, args, { cwd: fileURLToPath(new URL('.', import.meta.url)), stdio: ['pipe', 'pipe', 'inherit'] });
}

test('another process of ours cannot lock what we hold; when it is killed, its lock is gone', async () => {
  const directory = mkdtempSync(join(temporary, 'case-'));
  const holder = startLocking(directory);
  const killed = new Promise((resolve) => holder.once('close', resolve));
  assert.equal(await firstLine(holder), 'locked');
  assert.match(await firstLine(startLocking(directory)), /is locked/);
  const fileSystem = new NodeFileSystem();
  assert.throws(() => fileSystem.lockDirectorySync(directory), /is locked/);
  holder.kill('SIGKILL');
  await killed;
  fileSystem.lockDirectorySync(directory).release();
});

test('another thread of ours cannot lock what we hold, and its attempt leaves our lock as it is', async () => {
  const directory = mkdtempSync(join(temporary, 'case-'));
  const lock = new NodeFileSystem().lockDirectorySync(directory);
  const script = `
    const { NodeFileSystem } = await import(${JSON.stringify(import.meta.resolve('@odradek/runtime'))});
    try {
      new NodeFileSystem().lockDirectorySync(${JSON.stringify(directory)});
    } catch (error) {
      require('node:worker_threads').parentPort.postMessage(error.message);
    }`;
  const worker = new Worker(`(async () => {${script}})()`, { eval: true });
  const [said] = await once(worker, 'message');
  assert.match(String(said), /is locked/);
  const other = startLocking(directory);
  try {
    assert.match(await firstLine(other), /is locked/);
  } finally {
    other.kill('SIGKILL');
    lock.release();
  }
});

test('a path that is too long for the lock is named as that', () => {
  const directory = join(mkdtempSync(join(temporary, 'case-')), 'd'.repeat(250), 'd'.repeat(250));
  const fileSystem = new NodeFileSystem();
  fileSystem.makeDirectorySync(directory);
  assert.throws(() => fileSystem.lockDirectorySync(directory), /Cannot lock the directory .*: its path has more than 494 bytes/);
});
