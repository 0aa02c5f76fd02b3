// The regular expressions to which members of consumer groups subscribe. To look one up is to match it with every topic of the
// cluster, so no member waits for it: its heartbeat is answered with what the group knew, and an operation of its own looks up
// all expressions of the group. If that finds other topics than before, the group epoch grows, and the next heartbeats make an
// assignment of them.

import type { Clock } from '@odradek/runtime';
import { answer, type CoordinatorRecord, type Outcome } from '../coordinator/coordinator-shard.ts';
import type { CoordinatorTimer } from '../coordinator/coordinator-timer.ts';
import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import type { ConsumerGroup, ResolvedRegex } from './consumer-group.ts';
import type { ConsumerMember } from './consumer-member.ts';
import { nextEpoch } from './consumer-progress.ts';
import { regexRecord } from './consumer-records.ts';
import type { GroupSettings } from './group-settings.ts';
import { RegexLookup } from './regex-lookup.ts';

export interface ConsumerRegexesParts {
  readonly clock: Clock;
  readonly timer: CoordinatorTimer;
  readonly settings: GroupSettings;
  readonly metadata: () => MetadataSnapshot;
  /** Grows whenever there are new topics. */
  readonly topicsVersion: () => number;
  readonly group: (groupId: string) => ConsumerGroup | undefined;
}

/** However often topics and expressions change, those of a group are not looked up more often than this, as in Kafka. */
const leastRefreshMs = 10_000;

/** So long a look-up may hold the event loop before others have their turn. */
const turnMs = 5;

interface Refresh {
  readonly groupId: string;
  readonly lookup: RegexLookup;
  readonly topicsVersion: number;
  readonly startMs: number;
}

const noTopics: ReadonlySet<string> = new Set();

export class ConsumerRegexes {
  readonly #parts: ConsumerRegexesParts;

  constructor(parts: ConsumerRegexesParts) {
    this.#parts = parts;
  }

  /** A member has been heard of: has it brought an expression that nobody had, are there new topics, or is it simply time? */
  refreshIfDue(
    group: ConsumerGroup,
    before: ConsumerMember,
    updated: ConsumerMember,
    maySee?: ((topic: string) => boolean) | undefined,
  ): void {
    const { clock, timer, settings, topicsVersion } = this.#parts;
    const { groupId } = group;
    const { subscribedTopicRegex: regex } = updated;
    const isNew = regex !== '' && regex !== before.subscribedTopicRegex && group.regexSubscriberCount(regex) === 0;
    if ((!isNew && !group.hasRegexes) || timer.isScheduled(keyOf(groupId))) return;
    const sinceMs = clock.wallTimeMs() - group.regexRefreshMs;
    // A time that is yet to come is that of another coordinator's clock.
    if (sinceMs >= 0 && sinceMs <= leastRefreshMs) return;
    const isDue =
      isNew ||
      sinceMs < 0 ||
      group.hasUnresolvedRegex ||
      group.regexTopicsVersion < topicsVersion() ||
      sinceMs > settings.regexRefreshIntervalMs;
    if (isDue) timer.schedule(keyOf(groupId), 0, () => this.#begin(groupId, maySee));
  }

  #begin(groupId: string, maySee: ((topic: string) => boolean) | undefined): Outcome<void> {
    const group = this.#parts.group(groupId);
    if (group === undefined) return answer(undefined);
    const lookup = new RegexLookup(group.subscribedRegexes, this.#parts.metadata(), maySee);
    return this.#proceed({
      groupId,
      lookup,
      topicsVersion: this.#parts.topicsVersion(),
      startMs: this.#parts.clock.wallTimeMs(),
    });
  }

  #proceed(refresh: Refresh): Outcome<void> {
    const { clock, timer } = this.#parts;
    const untilMs = clock.monotonicMs() + turnMs;
    if (refresh.lookup.proceed(() => clock.monotonicMs() < untilMs)) return this.#finish(refresh);
    timer.schedule(keyOf(refresh.groupId), 0, () => this.#proceed(refresh));
    return answer(undefined);
  }

  /** The group may have gone on meanwhile: what nobody subscribes to any more is left out. */
  #finish({ groupId, lookup, topicsVersion, startMs }: Refresh): Outcome<void> {
    const group = this.#parts.group(groupId);
    if (group === undefined) return answer(undefined);
    const records: CoordinatorRecord[] = [];
    const regexes = new Map<string, ResolvedRegex>(group.resolvedRegexes);
    let haveChanged = false;
    for (const [regex, topics] of lookup.found) {
      if (group.regexSubscriberCount(regex) === 0) continue;
      if (!isSame(topics, regexes.get(regex)?.topics ?? noTopics)) haveChanged = true;
      // The version would be that of Kafka's metadata log. A Kafka that reads 0 looks the expression up again.
      const resolved = { topics, version: 0, timestampMs: startMs };
      regexes.set(regex, resolved);
      records.push(regexRecord(groupId, regex, resolved));
    }
    group.regexTopicsVersion = topicsVersion;
    nextEpoch({ metadata: this.#parts.metadata() }, group, group.members, regexes, haveChanged, records);
    return { records, response: undefined };
  }
}

function isSame(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  if (a.size !== b.size) return false;
  for (const topic of a) if (!b.has(topic)) return false;
  return true;
}

function keyOf(groupId: string): string {
  return `regex ${groupId}`;
}
