// A log driven at random on a simulated disk, beside its model: appends of all kinds, truncations, deletions, reopenings, full
// disks, and crashes between any two changes of the disk.

import assert from 'node:assert/strict';
import { errorCodes } from '@odradek/protocol';
import { LogAppends } from './log-appends.fixture.ts';
import { checkLog, checkRead } from './log-checks.fixture.ts';
import { LogOnDisk } from './log-on-disk.fixture.ts';

type Step = readonly [weight: number, name: string, run: () => void | Promise<void>];

export class LogHistory {
  readonly #under: LogOnDisk;
  readonly #appends: LogAppends;

  constructor(seed: number) {
    this.#under = new LogOnDisk(seed);
    this.#appends = new LogAppends(this.#under);
  }

  get steps(): readonly string[] {
    return this.#under.steps;
  }

  get logText(): string {
    return this.#under.logText;
  }

  async play(stepCount: number): Promise<void> {
    await this.#under.start();
    for (let step = 0; step < stepCount; step++) {
      await this.#step(this.#steps());
      checkLog(this.#under.log, this.#under.model);
    }
    await this.#under.turn();
    await this.#readAll();
    await this.#under.restart();
    await this.#readAll();
    await this.#under.world.run(this.#under.manager.close());
  }

  #steps(): readonly Step[] {
    return [
      ...this.#changes(),
      [15, 'read', () => this.#read()],
      [4, 'find a timestamp', () => this.#findTimestamp()],
      [3, 'fill the disk', () => this.#fillDisk()],
      [2, 'restart', () => this.#under.restart()],
      [4, 'crash', () => this.#under.crash()],
      [4, 'fail in the middle', () => this.#failInTheMiddle()],
      [1, 'delete the topic', () => this.#under.deleteTopic()],
    ];
  }

  /** After which the disk is another, perhaps. */
  #changes(): readonly Step[] {
    return [
      [40, 'append', () => this.#appends.append()],
      [3, 'append in an old format', () => this.#appends.appendLegacy()],
      [4, 'repeat an append', () => this.#appends.repeat()],
      [2, 'append what is refused', () => this.#appends.appendOutOfOrder()],
      [6, 'append as follower', () => this.#appends.appendAsFollower()],
      [15, 'turn', () => this.#under.turn()],
      [5, 'move the high watermark', () => this.#moveHighWatermark()],
      [3, 'flush', () => this.#flush()],
      [2, 'checkpoint', () => this.#checkpoint()],
      [2, 'roll', () => this.#roll()],
      [3, 'truncate', () => this.#truncate()],
      [1, 'truncate fully', () => this.#truncateFully()],
      [2, 'delete records', () => this.#deleteRecords()],
      [2, 'delete old segments', () => this.#deleteOldSegments()],
      [2, 'next leader epoch', () => this.#nextEpoch()],
    ];
  }

  async #step(steps: readonly Step[]): Promise<void> {
    let draw = this.#under.random.nextInt(steps.reduce((sum, [weight]) => sum + weight, 0));
    for (const [weight, name, run] of steps) {
      draw -= weight;
      if (draw >= 0) continue;
      this.#under.steps.push(name);
      await run();
      return;
    }
  }

  // What happens to it

  async #fillDisk(): Promise<void> {
    const { random, machine } = this.#under;
    const { fileSystem } = machine;
    if (this.#under.isDiskFull) {
      await this.#under.turn();
      fileSystem.capacityBytes = Number.MAX_SAFE_INTEGER;
      this.#under.note('there is room again');
    } else fileSystem.capacityBytes = fileSystem.usedBytes + random.nextInt(1500);
  }

  async #flush(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model } = this.#under;
    try {
      await this.#under.run(log.flush());
      model.allForced();
    } catch (error) {
      this.#under.mustBeFull(error);
    }
  }

  async #checkpoint(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, disk } = this.#under;
    const { startOffset } = model;
    const { highWatermark } = log;
    try {
      await this.#under.world.run(this.#under.manager.checkpoint());
      if (disk.hasFailed) return;
      model.highWatermarks = [highWatermark];
      if (!model.isStartUnforced) model.durableStart = Math.max(model.durableStart, startOffset);
    } catch (error) {
      assert.ok(this.#under.isDiskFull || disk.hasFailed, String(error));
    }
  }

  async #roll(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log } = this.#under;
    this.#under.mayFail(() => log.roll());
  }

  /** It rises mostly. */
  #moveHighWatermark(): void {
    const { log, model, random } = this.#under;
    const before = log.highWatermark;
    const least = random.nextInt(4) === 0 ? 0 : before;
    const wanted = least + random.nextInt(Math.max(1, model.endOffset + 2 - least));
    this.#under.raiseHighWatermark(wanted);
    assert.equal(log.highWatermark, Math.min(Math.max(wanted, model.startOffset), log.writtenEndOffset));
    if (log.highWatermark < before) model.areEndsKnown = false;
  }

  async #truncate(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, random } = this.#under;
    const { startOffset, endOffset } = model;
    const offset = startOffset + random.nextInt(endOffset - startOffset + 1);
    const kept = model.batches.filter((batch) => batch.endOffset <= offset);
    this.#under.note(`to ${offset}`);
    model.mayGoBackTo(model.endOfRecords(offset));
    // All of it goes then.
    if (offset <= log.segments.first.baseOffset && offset < endOffset) model.isStartUnforced = true;
    if (!this.#under.mayFail(() => log.truncateTo(offset))) return;
    const { logEndOffset } = log;
    assert.ok((kept.at(-1)?.endOffset ?? 0) <= logEndOffset && logEndOffset <= offset, `log end ${logEndOffset}`);
    model.goBackTo(logEndOffset);
    model.areEndsKnown = false;
    model.highWatermarks.push(log.highWatermark);
  }

  async #truncateFully(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, random, disk } = this.#under;
    const offset = random.nextInt(model.endOffset + 20);
    this.#under.note(`to ${offset}`);
    model.mayGoBackTo(0);
    model.isStartUnforced = true;
    try {
      log.truncateFullyAndStartAt(offset);
    } catch (error) {
      // The file that says where the log begins did not fit; in memory it does.
      assert.ok(this.#under.isDiskFull || disk.hasFailed, String(error));
    }
    if (disk.hasFailed) return;
    model.beginAt(offset);
    model.areEndsKnown = false;
    model.highWatermarks.push(offset);
    await this.#under.turn();
  }

  async #deleteRecords(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, random } = this.#under;
    this.#under.raiseHighWatermark(model.endOffset);
    const offset = model.startOffset + random.nextInt(model.endOffset - model.startOffset + 1);
    this.#under.note(`before ${offset}`);
    model.deleteBefore(offset);
    if (!this.#under.mayFail(() => log.deleteRecordsBefore(offset))) return;
    assert.throws(() => log.deleteRecordsBefore(model.endOffset + 1), { code: errorCodes.OFFSET_OUT_OF_RANGE });
  }

  /** As retention does. */
  async #deleteOldSegments(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, random } = this.#under;
    const { segments, highWatermark } = log;
    const ends = segments.all().flatMap((_, index) => segments.at(index + 1)?.baseOffset ?? []);
    const wanted = random.nextInt(segments.count + 1);
    const expected = ends.slice(0, wanted).filter((offset) => offset <= highWatermark);
    this.#under.note(`up to ${expected.at(-1)}`);
    model.deleteBefore(expected.at(-1) ?? 0);
    let left = wanted;
    this.#under.mayFail(() =>
      assert.equal(
        log.deleteOldSegments(() => left-- > 0),
        expected.length,
      ),
    );
  }

  async #nextEpoch(): Promise<void> {
    if (!(await this.#under.settle())) return;
    const { log, model, random } = this.#under;
    model.epoch += 1 + random.nextInt(2);
    log.assignLeaderEpoch(model.epoch, log.logEndOffset);
  }

  /** The disk fails at some moment soon, perhaps between two renames, and then the machine crashes. */
  async #failInTheMiddle(): Promise<void> {
    await this.#under.turn();
    this.#under.disk.failAfter(1 + this.#under.random.nextInt(25));
    for (let count = 0; count < 12 && !this.#under.disk.hasFailed; count++) {
      await this.#step(this.#changes());
      if (!this.#under.disk.hasFailed) checkLog(this.#under.log, this.#under.model);
    }
    this.#under.steps.push('crash');
    await this.#under.crash();
  }

  // What is read

  async #read(): Promise<void> {
    await this.#under.turn();
    const { log, model, random } = this.#under;
    const { startOffset, endOffset } = model;
    const offset = startOffset + random.nextInt(endOffset - startOffset + 2);
    const options = {
      maxBytes: this.#under.oneOf([0, 1, 200, 1000, 100_000]),
      isolation: this.#under.oneOf(['logEnd', 'highWatermark', 'lastStable'] as const),
      minOneBatch: random.nextInt(2) === 0,
    };
    this.#under.note(`at ${offset} ${JSON.stringify(options)}`);
    await checkRead({ log, model, offset, options }, this.#under.run);
  }

  async #readAll(): Promise<void> {
    const { log, model } = this.#under;
    const { startOffset, endOffset } = model;
    for (const maxBytes of [1, 100_000]) {
      const options = { maxBytes, isolation: 'logEnd', minOneBatch: true } as const;
      for (let offset = startOffset; offset < endOffset; offset++)
        await checkRead({ log, model, offset, options }, this.#under.run);
    }
  }

  async #findTimestamp(): Promise<void> {
    await this.#under.turn();
    const { log, model, random } = this.#under;
    const records = model.records();
    const timestamp = (records.at(random.nextInt(records.length + 1))?.timestamp ?? 0) + random.nextInt(3) - 1;
    const first = records.find((record) => record.timestamp >= timestamp);
    assert.equal(log.offsetForTimestamp(timestamp)?.offset, first?.offset, `offset for ${timestamp}`);
    // Records before the log start count as long as their segment is there.
    const largest = records.reduce((max, record) => Math.max(max, record.timestamp), -1);
    const found = log.offsetOfMaxTimestamp();
    const expected = records.find((record) => record.timestamp === largest);
    if (found === undefined || found.offset >= model.startOffset) {
      assert.equal(found?.offset, largest < 0 ? undefined : expected?.offset, `offset of the largest timestamp ${largest}`);
    } else assert.ok(found.timestamp >= largest, `the largest timestamp ${largest}`);
  }
}
