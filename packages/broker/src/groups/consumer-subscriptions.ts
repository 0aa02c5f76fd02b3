// What a consumer group subscribes to: names, and expressions that are looked up among the topics there are; and one number
// that stands for all of it that assignments depend on.

import { errorCodes, ProtocolError, zeroUuid } from '@odradek/protocol';
import type { MetadataSnapshot, TopicMetadata } from '../metadata/metadata-cache.ts';
import type { ResolvedRegex } from './consumer-group.ts';
import type { ConsumerMember } from './consumer-member.ts';
import { compileTopicPattern } from './topic-pattern.ts';
import { InvalidPatternError } from './topic-pattern-parser.ts';

/** Throws INVALID_REGULAR_EXPRESSION. */
export function checkRegex(regex: string): void {
  try {
    compileTopicPattern(regex);
  } catch (error) {
    if (!(error instanceof InvalidPatternError)) throw error;
    const message = `SubscribedTopicRegex \`${regex}\` is not a valid regular expression: ${error.message}.`;
    throw new ProtocolError(errorCodes.INVALID_REGULAR_EXPRESSION, message, { cause: error });
  }
}

/** The topics that the member subscribes to in either way, whether they exist or not. */
export function subscribedTopics(member: ConsumerMember, regexes: ReadonlyMap<string, ResolvedRegex>): ReadonlySet<string> {
  const topics = new Set(member.subscribedTopicNames);
  for (const topic of regexes.get(member.subscribedTopicRegex)?.topics ?? []) topics.add(topic);
  return topics;
}

/** The ids of those that exist. */
export function subscribedTopicIds(
  member: ConsumerMember,
  regexes: ReadonlyMap<string, ResolvedRegex>,
  metadata: MetadataSnapshot,
): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const name of subscribedTopics(member, regexes)) {
    const id = metadata.topic(name)?.id ?? zeroUuid;
    if (id !== zeroUuid) ids.add(id);
  }
  return ids;
}

/** 0 when nothing that exists is subscribed; another number when topics, partitions or racks change. */
export function metadataHash(
  members: Iterable<ConsumerMember>,
  regexes: ReadonlyMap<string, ResolvedRegex>,
  metadata: MetadataSnapshot,
): number {
  const names = new Set<string>();
  for (const member of members) for (const name of subscribedTopics(member, regexes)) names.add(name);
  const topics = [...names].sort().flatMap((name) => metadata.topic(name) ?? []);
  return topics.length === 0 ? 0 : hashOf(topics.map((topic) => textOf(topic, metadata)).join('\n'));
}

/** Topics that did not change are the same objects in the next snapshot of the metadata. */
const texts = new WeakMap<TopicMetadata, string>();

function textOf(topic: TopicMetadata, metadata: MetadataSnapshot): string {
  let text = texts.get(topic);
  if (text === undefined) {
    const partitions = topic.partitions.map(({ index, replicas }) => {
      const racks = replicas.map((replica) => metadata.broker(replica)?.rack ?? '').sort();
      return `${index}:${racks.join(',')}`;
    });
    text = `${topic.name} ${topic.id} ${partitions.join(' ')}`;
    texts.set(topic, text);
  }
  return text;
}

/** 53 bits, which a number holds exactly, of two different sums over the text. */
function hashOf(text: string): number {
  let high = 0x811c9dc5;
  let low = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = (Math.imul(low, 31) + code) | 0;
  }
  // 0 means that nothing is subscribed.
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0) || 1;
}
