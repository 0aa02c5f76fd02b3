// A disk that is full, one that can only be read, and one that is gone: the producer is told KAFKA_STORAGE_ERROR, and the
// broker goes on with what works. Mounts a small tmpfs, so it needs root.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  DescribeLogDirsRequest,
  DescribeLogDirsResponse,
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
} from '@odradek/protocol';
import { isContinuousIntegration, type OdradekProcess, runCommand, startOdradekProcess, until } from '@odradek/testing';
import { assertError, BrokerConversation, recordsOf, textRecords, valuesOf } from '../cases/broker-conversation.ts';

/** A disk of its own, of a few MiB. */
class SmallDisk {
  readonly #path = mkdtempSync(join(tmpdir(), 'odradek-small-disk-'));
  /** Where the broker may write. */
  readonly directory = join(this.#path, 'data');

  async mount(mebibytes: number): Promise<void> {
    await runCommand('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', this.#path]);
    mkdirSync(this.directory);
  }

  async grow(mebibytes: number): Promise<void> {
    await runCommand('mount', ['-o', `remount,size=${mebibytes}m`, this.#path]);
  }

  async remount(option: 'ro' | 'rw'): Promise<void> {
    await runCommand('mount', ['-o', `remount,${option}`, this.#path]);
  }

  /** The broker's open files live on; every path is gone. */
  async pullOut(): Promise<void> {
    await runCommand('umount', ['-l', this.#path]);
  }

  async remove(): Promise<void> {
    await runCommand('umount', ['-l', this.#path], { mayFail: true });
    rmSync(this.#path, { recursive: true, force: true });
  }
}

/** Why no disk can be mounted here; false where one can. */
const skip = await (async (): Promise<string | false> => {
  const probe = new SmallDisk();
  try {
    await probe.mount(1);
    return false;
  } catch (error) {
    if (isContinuousIntegration) throw error;
    return 'mounting a tmpfs needs root';
  } finally {
    await probe.remove();
  }
})();

/** 256 KiB that no codec shrinks and no log needs. */
const batch = (): Buffer => buildRecordBatch({}, [{ value: Buffer.alloc(256 * 1024, 'x'), timestamp: Date.now() }]);

/** A broker with its first directory on the machine's disk, where its own journal lies, and the second on a small one. */
class BrokerOnTwoDisks {
  readonly small = new SmallDisk();
  readonly roomy = mkdtempSync(join(tmpdir(), 'odradek-roomy-'));
  odradek!: OdradekProcess;
  conversation!: BrokerConversation;
  onSmall = '';
  onRoomy = '';

  async start(mebibytes: number): Promise<void> {
    await this.small.mount(mebibytes);
    this.odradek = await startOdradekProcess({ dataDirectories: [this.roomy, this.small.directory] });
    await this.reconnect();
    // New logs go to the directory with the fewest.
    const topics = [await this.conversation.createTopic('disk'), await this.conversation.createTopic('disk')];
    const directories = await this.describeLogDirs();
    const on = (directory: string): string => {
      const names = directories.find(({ logDir }) => logDir === directory)?.topics.map(({ name }) => name);
      return topics.find((topic) => names?.includes(topic)) ?? '';
    };
    this.onRoomy = on(this.roomy);
    this.onSmall = on(this.small.directory);
    assert.ok(this.onRoomy !== '' && this.onSmall !== '', JSON.stringify(directories));
  }

  async reconnect(): Promise<void> {
    const { host, port, bootstrap } = this.odradek;
    const close = (): Promise<void> => this.odradek.close();
    this.conversation = await BrokerConversation.open({ host, port, bootstrap, odradek: this.odradek, close });
  }

  async describeLogDirs() {
    const answer = await this.conversation.client.send(DescribeLogDirsRequest, DescribeLogDirsResponse, 4, { topics: null });
    return answer.results;
  }

  async close(): Promise<void> {
    await this.conversation?.close();
    await this.odradek?.close();
    await this.small.remove();
    rmSync(this.roomy, { recursive: true, force: true });
  }

  /** Produces until the small disk is full; how many batches it took. */
  async fill(): Promise<number> {
    for (let count = 0; count < 200; count++) {
      const answer = await this.conversation.produce(this.onSmall, batch());
      if (answer.errorCode !== 0) {
        assertError(answer.errorCode, 'KAFKA_STORAGE_ERROR');
        assert.equal(answer.baseOffset, -1);
        return count;
      }
    }
    throw new Error('the disk never became full');
  }

  async assertRoomyWorks(text: string): Promise<void> {
    const offset = await this.conversation.append(this.onRoomy, buildRecordBatch({}, textRecords(text)));
    assert.deepEqual(valuesOf((await this.conversation.fetch(this.onRoomy, offset)).records), [text]);
    assert.ok(this.odradek.isRunning);
  }

  /** Reads all of the topic on the small disk; how many records there are. */
  async readSmall(): Promise<number> {
    const end = await this.conversation.endOffset(this.onSmall);
    let read = 0;
    while (read < end) {
      const answer = await this.conversation.fetch(this.onSmall, read, { partitionMaxBytes: 1024 * 1024 });
      assertError(answer.errorCode, 'NONE');
      assert.ok(recordsOf(answer.records).length > 0);
      read += recordsOf(answer.records).length;
    }
    return read;
  }
}

describe('a full disk', { skip }, () => {
  const broker = new BrokerOnTwoDisks();
  before(() => broker.start(12));
  after(() => broker.close());

  test('the producer is told, and everything else goes on', async () => {
    const stored = await broker.fill();
    assert.ok(stored > 10);
    // Again: still refused, still alive.
    assertError((await broker.conversation.produce(broker.onSmall, batch())).errorCode, 'KAFKA_STORAGE_ERROR');
    assert.equal(await broker.conversation.endOffset(broker.onSmall), stored);
    assert.equal(await broker.readSmall(), stored);
    await broker.assertRoomyWorks('the other disk has room');
  });

  test('when there is room again, producing works without a restart', async () => {
    const end = await broker.conversation.endOffset(broker.onSmall);
    await broker.small.grow(24);
    const offset = await until('the append works', async () => {
      const answer = await broker.conversation.produce(broker.onSmall, batch());
      return answer.errorCode === 0 && answer.baseOffset + 1;
    });
    assert.equal(offset, end + 1);
  });

  for (const end of ['kill', 'stop'] as const) {
    test(`a start on the full disk after a ${end} keeps what was acknowledged`, async () => {
      await broker.fill();
      const stored = await broker.conversation.endOffset(broker.onSmall);
      await broker.odradek[end]();
      await broker.odradek.start();
      await broker.reconnect();
      await broker.conversation.ledTopic(broker.onSmall);
      assert.equal(await broker.readSmall(), stored);
      await broker.assertRoomyWorks(`after the ${end}`);
    });
  }
});

describe('a read-only disk', { skip }, () => {
  const broker = new BrokerOnTwoDisks();
  before(() => broker.start(12));
  after(() => broker.close());

  test('its partitions answer KAFKA_STORAGE_ERROR, the others work, and nothing is lost', async () => {
    await broker.conversation.append(broker.onSmall, buildRecordBatch({}, textRecords('before')));
    await broker.odradek.stop();
    await broker.small.remount('ro');
    await broker.odradek.start();
    await broker.reconnect();
    await broker.conversation.ledTopic(broker.onRoomy);
    await until('the partition is told to be offline', async () => {
      const answer = await broker.conversation.produce(broker.onSmall, buildRecordBatch({}, textRecords('refused')));
      return answer.errorCode === errorCodes.KAFKA_STORAGE_ERROR;
    });
    await broker.assertRoomyWorks('the other disk can be written');
    const directories = new Map((await broker.describeLogDirs()).map(({ logDir, errorCode }) => [logDir, errorCode]));
    assertError(directories.get(broker.small.directory), 'KAFKA_STORAGE_ERROR');
    assertError(directories.get(broker.roomy), 'NONE');
    // A topic that is new finds its place on the directory that works.
    await broker.conversation.createTopic('disk-new');

    await broker.odradek.stop();
    await broker.small.remount('rw');
    await broker.odradek.start();
    await broker.reconnect();
    await broker.conversation.ledTopic(broker.onSmall);
    assert.deepEqual(valuesOf((await broker.conversation.fetch(broker.onSmall, 0)).records), ['before']);
  });
});

describe('a disk that is pulled out', { skip }, () => {
  const broker = new BrokerOnTwoDisks();
  before(() => broker.start(12));
  after(() => broker.close());

  test('at the next file that is wanted there the directory goes offline, and the rest works on', async () => {
    await broker.small.pullOut();
    // The open segment still takes records; a topic deletion or a roll needs the directory.
    const configs = [{ name: 'segment.bytes', configOperation: 0, value: '1048576' }];
    const resources = [{ resourceType: 2, resourceName: broker.onSmall, configs }];
    const request = { resources, validateOnly: false };
    await broker.conversation.client.send(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, 1, request);
    await until('the partition is told to be offline', async () => {
      const answer = await broker.conversation.produce(broker.onSmall, batch());
      return answer.errorCode === errorCodes.KAFKA_STORAGE_ERROR;
    });
    assertError((await broker.conversation.fetch(broker.onSmall, 0)).errorCode, 'KAFKA_STORAGE_ERROR');
    await broker.assertRoomyWorks('one disk is left');
  });
});
