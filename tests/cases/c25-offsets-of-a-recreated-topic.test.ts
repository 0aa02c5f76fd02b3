// C25: what a group has committed for a topic goes with the topic. Another one of the same name begins without.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  buildRecordBatch,
  DeleteTopicsRequest,
  DeleteTopicsResponse,
  OffsetCommitRequest,
  OffsetCommitResponse,
  OffsetFetchRequest,
  OffsetFetchResponse,
} from '@odradek/protocol';
import { type BrokerUnderTest, brokerUnderTest, uniqueName, until } from '@odradek/testing';
import { assertError, BrokerConversation, textRecords } from './broker-conversation.ts';
import { GroupMember } from './group-conversation.ts';

describe('C25 offsets of a recreated topic', () => {
  let broker: BrokerUnderTest;
  let conversation: BrokerConversation;
  before(async () => {
    broker = await brokerUnderTest();
    conversation = await BrokerConversation.open(broker);
  });
  after(async () => {
    await conversation?.close();
    await broker?.close();
  });

  test('are removed with the old topic, whose id is unknown to OffsetCommit and OffsetFetch', async () => {
    const topic = uniqueName('c25');
    const group = uniqueName('c25');
    const { topicId: oldId } = await conversation.createTopicNamed(topic);
    for (let count = 0; count < 10; count++) await conversation.append(topic, buildRecordBatch({}, textRecords(`old ${count}`)));
    await using member = await GroupMember.open(broker, { group, topic });
    assertError(await member.commit(8, 10), 'NONE');
    assert.equal(await member.committed(7), 10);

    await conversation.client.send(DeleteTopicsRequest, DeleteTopicsResponse, 6, { topics: [{ name: topic }], timeoutMs: 30_000 });
    await until('its offsets are gone', async () => (await member.committed(7)) === -1);
    await until('the topic can be created again', async () => (await conversation.createTopicNamed(topic)).topicId);
    assert.equal(await member.committed(7), -1);

    const partitions = [{ partitionIndex: 0, committedOffset: 10 }];
    const commit = { groupId: group, generationIdOrMemberEpoch: -1, topics: [{ topicId: oldId, partitions }] };
    const committed = await conversation.client.send(OffsetCommitRequest, OffsetCommitResponse, 10, commit);
    assertError(committed.topics[0]?.partitions[0]?.errorCode, 'UNKNOWN_TOPIC_ID');
    const fetch = { groups: [{ groupId: group, topics: [{ topicId: oldId, partitionIndexes: [0] }] }] };
    const fetched = await conversation.client.send(OffsetFetchRequest, OffsetFetchResponse, 10, fetch);
    assertError(fetched.groups[0]?.topics[0]?.partitions[0]?.errorCode, 'UNKNOWN_TOPIC_ID');
    assert.equal(await member.committed(7), -1);
  });
});
