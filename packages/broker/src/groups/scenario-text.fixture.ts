// How the commands of golden scripts of groups name things, and how what came of them is told.

import {
  ConsumerProtocolAssignment,
  ConsumerProtocolSubscription,
  decodeMessage,
  encodeToBuffer,
  errorByCode,
  ProtocolError,
} from '@odradek/protocol';
import type { JoinAnswer, SyncAnswer } from './classic-member.ts';
import { printTopics } from './group-record-text.fixture.ts';

/** The words of a command that have the form `name=value`. */
export type Options = ReadonlyMap<string, string>;

/** A topic's id spells its name. */
export function idOf(topic: string): string {
  return topic.padEnd(22, 'A');
}

export function describeJoin(answer: JoinAnswer): string {
  if (answer.errorCode !== 0) return `${errorByCode(answer.errorCode ?? 0).name} ${answer.memberId || '-'}`;
  const members = (answer.members ?? []).map(({ memberId, groupInstanceId }) =>
    groupInstanceId == null ? memberId : `${memberId}/${groupInstanceId}`,
  );
  const skips = answer.skipAssignment === true ? ', skip the assignment' : '';
  return `generation ${answer.generationId} as ${answer.memberId}, ${answer.protocolType}/${answer.protocolName}, leader ${answer.leader}, members [${members.join(' ')}]${skips}`;
}

export function describeSync(answer: SyncAnswer): string {
  if (answer.errorCode !== 0) return errorByCode(answer.errorCode ?? 0).name;
  return `${answer.protocolType}/${answer.protocolName} ${printAssignment(answer.assignment ?? Buffer.alloc(0))}`;
}

export function nameOf(error: unknown): string {
  return error instanceof ProtocolError ? `throws ${errorByCode(error.code).name}` : String(error);
}

/** 10s, 5m, 7d, or plain milliseconds. */
export function milliseconds(text: string): number {
  const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  const [, amount = '0', unit = ''] = /^(-?\d+)([smhd]?)$/.exec(text) ?? [];
  return Number(amount) * (units[unit] ?? 1);
}

export function splitAt(text: string, separator: string): [string, string] {
  const at = text.lastIndexOf(separator);
  return [text.slice(0, at), text.slice(at + 1)];
}

/** `t,u@t:0,1`: subscribed to t and u, and still has two partitions of t. */
export function subscription(type: string, text: string): Buffer {
  if (type !== 'consumer' || text === 'garbage') return Buffer.from(text);
  const [topics = '', owned = ''] = text.split('@');
  const value = { topics: topics.split(','), ownedPartitions: partitionsOf(owned) };
  return Buffer.concat([Buffer.from([0, 1]), encodeToBuffer(ConsumerProtocolSubscription, 1, value)]);
}

/** `@t:0,1;u:0` as consumers assign, or any other text as it stands. */
export function assignment(text: string): Buffer {
  if (!text.startsWith('@')) return Buffer.from(text);
  const value = { assignedPartitions: partitionsOf(text.slice(1)) };
  return Buffer.concat([Buffer.from([0, 1]), encodeToBuffer(ConsumerProtocolAssignment, 1, value)]);
}

export function printAssignment(bytes: Uint8Array): string {
  if (bytes[0] !== 0) return `"${Buffer.from(bytes)}"`;
  const { assignedPartitions } = decodeMessage(ConsumerProtocolAssignment, 1, Buffer.from(bytes).subarray(2));
  return printTopics(assignedPartitions.map(({ topic, partitions }) => ({ topicId: topic, partitions })));
}

export function partitionsOf(text: string): { readonly topic: string; readonly partitions: number[] }[] {
  return text
    .split(';')
    .filter(Boolean)
    .map((each) => {
      const [topic = '', partitions = ''] = each.split(':');
      return { topic, partitions: partitions.split(',').map(Number) };
    });
}
