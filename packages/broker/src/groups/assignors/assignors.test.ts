import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SeededRandom } from '@odradek/runtime';
import type { TopicPartitions } from '../consumer-member.ts';
import type { Assignor, AssignorInput, AssignorMember } from './assignor.ts';
import { rangeAssignor } from './range-assignor.ts';
import { uniformAssignor } from './uniform-assignor.ts';

type Subscriptions = Readonly<Record<string, string>>;

/** `members`: id → topics, `a/i1` for a static one; `owned`: id → `t0 t1`; `topics`: name → partitions. */
function input(members: Subscriptions, topics: Readonly<Record<string, number>>, owned: Subscriptions = {}): AssignorInput {
  const subscriptions = Object.values(members);
  return {
    members: new Map(
      Object.entries(members).map(([name, subscribed]) => {
        const [memberId = '', instanceId = null] = name.split('/');
        const member: AssignorMember = {
          instanceId,
          subscribedTopicIds: new Set(subscribed.split(' ').filter((topic) => topic in topics)),
          assigned: parse(owned[memberId] ?? ''),
        };
        return [memberId, member];
      }),
    ),
    isHomogeneous: subscriptions.every((each) => each === subscriptions[0]),
    partitionCount: (topic) => topics[topic] ?? 0,
  };
}

function parse(text: string): TopicPartitions {
  const topics = new Map<string, Set<number>>();
  for (const each of text.split(' ').filter(Boolean)) {
    const topic = each.charAt(0);
    topics.set(topic, (topics.get(topic) ?? new Set()).add(Number(each.slice(1))));
  }
  return topics;
}

function print(assignment: ReadonlyMap<string, TopicPartitions>): Record<string, string> {
  const entries = [...assignment].map(([memberId, topics]) => {
    const partitions = [...topics].flatMap(([topic, numbers]) => [...numbers].map((number) => `${topic}${number}`));
    return [memberId, partitions.sort().join(' ')] as const;
  });
  return Object.fromEntries(entries.sort());
}

const cases: readonly {
  readonly what: string;
  readonly assignor: Assignor;
  readonly input: AssignorInput;
  readonly expected: Readonly<Record<string, string>>;
}[] = [
  {
    what: 'range gives everybody the same partitions of topics with equally many',
    assignor: rangeAssignor,
    input: input({ b: 't u', a: 't u' }, { t: 3, u: 3 }),
    expected: { a: 't0 t1 u0 u1', b: 't2 u2' },
  },
  {
    what: 'range looks only at those who subscribe',
    assignor: rangeAssignor,
    input: input({ a: 't', b: 't u', c: 'u' }, { t: 4, u: 2 }),
    expected: { a: 't0 t1', b: 't2 t3 u0', c: 'u1' },
  },
  {
    what: 'range lets static members come first, in the order of their instance ids',
    assignor: rangeAssignor,
    input: input({ 'z/1': 't', a: 't', 'y/2': 't' }, { t: 3 }),
    expected: { a: 't2', y: 't1', z: 't0' },
  },
  {
    what: 'range leaves members without a share where there are more of them than partitions',
    assignor: rangeAssignor,
    input: input({ a: 't', b: 't', c: 't' }, { t: 2 }),
    expected: { a: 't0', b: 't1', c: '' },
  },
  {
    what: 'uniform keeps what members have when another one comes',
    assignor: uniformAssignor,
    input: input({ a: 't', b: 't', c: 't' }, { t: 6 }, { a: 't0 t1 t2', b: 't3 t4 t5' }),
    expected: { a: 't0 t1', b: 't3 t4', c: 't2 t5' },
  },
  {
    what: 'uniform gives what a leaving member had to those with the least',
    assignor: uniformAssignor,
    input: input({ a: 't', b: 't' }, { t: 5 }, { a: 't0', b: 't1 t2' }),
    expected: { a: 't0 t4', b: 't1 t2 t3' },
  },
  {
    what: 'uniform takes away what is not subscribed any more',
    assignor: uniformAssignor,
    input: input({ a: 'u', b: 'u' }, { t: 2, u: 2 }, { a: 't0 u0', b: 't1' }),
    expected: { a: 'u0', b: 'u1' },
  },
  {
    what: 'uniform forgets partitions that do not exist',
    assignor: uniformAssignor,
    input: input({ a: 't' }, { t: 1 }, { a: 't0 t1' }),
    expected: { a: 't0' },
  },
  {
    what: 'uniform balances over different subscriptions',
    assignor: uniformAssignor,
    input: input({ a: 't u', b: 'u', c: 'u' }, { t: 2, u: 4 }),
    expected: { a: 't0 t1', b: 'u0 u2', c: 'u1 u3' },
  },
  {
    what: 'uniform moves partitions to a member that alone can take them',
    assignor: uniformAssignor,
    input: input({ a: 't u', b: 't' }, { t: 4, u: 2 }, { a: 't0 t1 t2 t3' }),
    expected: { a: 't3 u0 u1', b: 't0 t1 t2' },
  },
  {
    what: 'uniform without topics assigns nothing',
    assignor: uniformAssignor,
    input: input({ a: 'x', b: 'x' }, {}),
    expected: { a: '', b: '' },
  },
];

describe('server-side assignors', () => {
  for (const { what, assignor, input: given, expected } of cases) {
    it(what, () => assert.deepEqual(print(assignor.assign(given)), expected));
  }

  for (const assignor of [rangeAssignor, uniformAssignor]) {
    it(`${assignor.name} assigns every partition once, to a subscriber, as evenly as can be, round after round`, () => {
      for (let seed = 1; seed <= 60; seed++) checkRounds(assignor, seed);
    });
  }
});

/** Members and partitions come and go; each round begins with what the last one gave. */
function checkRounds(assignor: Assignor, seed: number): void {
  const random = new SeededRandom(seed);
  const topicNames = ['t', 'u', 'v', 'w'];
  const topics: Record<string, number> = Object.fromEntries(topicNames.map((topic) => [topic, random.nextInt(12)]));
  const isHomogeneous = random.nextInt(2) === 0;
  const members = new Map<string, string>();
  let owned: Record<string, string> = {};
  for (let round = 0; round < 8; round++) {
    const subscribed = topicNames.filter(() => random.nextInt(3) > 0).join(' ') || 't';
    members.set(`m${random.nextInt(10)}`, isHomogeneous ? topicNames.join(' ') : subscribed);
    if (round > 3) members.delete(`m${random.nextInt(10)}`);
    topics['t'] = (topics['t'] ?? 0) + random.nextInt(2);
    if (members.size === 0) continue;
    const given = input(Object.fromEntries(members), topics, owned);
    const assignment = assignor.assign(given);
    const context = `seed ${seed}, round ${round}`;
    const sizes = new Map<string, number>();
    const seen = new Set<string>();
    for (const [memberId, assigned] of assignment) {
      let size = 0;
      for (const [topic, partitions] of assigned) {
        assert.ok(given.members.get(memberId)?.subscribedTopicIds.has(topic), `${context}: ${memberId} subscribes to ${topic}`);
        for (const partition of partitions) {
          assert.ok(partition < (topics[topic] ?? 0), `${context}: ${topic}${partition} exists`);
          assert.ok(!seen.has(`${topic}${partition}`), `${context}: ${topic}${partition} is assigned once`);
          seen.add(`${topic}${partition}`);
          size += 1;
        }
      }
      sizes.set(memberId, size);
    }
    for (const topic of topicNames) {
      const hasSubscriber = [...given.members.values()].some(({ subscribedTopicIds }) => subscribedTopicIds.has(topic));
      for (let partition = 0; hasSubscriber && partition < (topics[topic] ?? 0); partition++) {
        assert.ok(seen.has(`${topic}${partition}`), `${context}: ${topic}${partition} is assigned`);
      }
    }
    if (assignor === uniformAssignor && given.isHomogeneous) {
      const all = [...sizes.values()];
      assert.ok(Math.max(...all) - Math.min(...all) <= 1, `${context}: ${all.join(' ')} is even`);
    }
    owned = print(assignment);
  }
}
