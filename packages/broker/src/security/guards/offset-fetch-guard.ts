// The guard of OffsetFetch, whose versions ask for one group or several, for topics by name, by id, or for all that there are.

import { errorCodes, type Message, type MessageInit, OffsetFetchRequest, OffsetFetchResponse } from '@odradek/protocol';
import { checkGroup, guardOf } from './guard.ts';

type Request = Message<typeof OffsetFetchRequest>;
type Group = Request['groups'][number];
type GroupAnswer = NonNullable<MessageInit<typeof OffsetFetchResponse>['groups']>[number];
type Indexes = { readonly partitionIndexes: readonly number[] };

export const offsetFetchGuard = guardOf(OffsetFetchRequest, OffsetFetchResponse, async (request, context, guarded) => {
  const { authorizer, handler, metadataCache } = guarded;
  const mayDescribe = (topic: string): boolean => authorizer.may(context, 'DESCRIBE', 'Topic', topic, { quietly: true });
  if (context.apiVersion < 8) {
    checkGroup(authorizer, context, 'DESCRIBE', request.groupId);
    const asked = request.topics;
    const topics = asked?.filter(({ name }) => mayDescribe(name)) ?? null;
    const answer = await handler.handle({ ...request, topics }, context);
    // Where all were asked for, those that may not be seen are left out.
    const told = (answer?.topics ?? []).filter(({ name }) => mayDescribe(name ?? ''));
    const refused = (asked ?? [])
      .filter(({ name }) => !mayDescribe(name))
      .map((topic) => ({ name: topic.name, partitions: refusedPartitions(topic) }));
    return { ...answer, topics: (answer?.errorCode ?? 0) === errorCodes.NONE ? [...told, ...refused] : [] };
  }
  const metadata = metadataCache.current;
  const nameOf = ({ name, topicId }: NonNullable<Group['topics']>[number]): string | undefined =>
    context.apiVersion >= 10 ? metadata.topicName(topicId) : name;
  const isHidden = (topic: NonNullable<Group['topics']>[number]): boolean => {
    const name = nameOf(topic);
    return name !== undefined && !mayDescribe(name);
  };
  const groups = request.groups.filter(({ groupId }) => authorizer.may(context, 'DESCRIBE', 'Group', groupId));
  const seen = groups.map((group) => ({ ...group, topics: group.topics?.filter((topic) => !isHidden(topic)) ?? null }));
  const answer = await handler.handle({ ...request, groups: seen }, context);
  const withRefused = (told: GroupAnswer, index: number): GroupAnswer => {
    if ((told.errorCode ?? 0) !== errorCodes.NONE) return told;
    const asked = groups[index]?.topics;
    if (asked === null || asked === undefined) {
      return { ...told, topics: (told.topics ?? []).filter(({ name }) => mayDescribe(name ?? '')) };
    }
    const refused = asked
      .filter(isHidden)
      .map((topic) => ({ name: topic.name, topicId: topic.topicId, partitions: refusedPartitions(topic) }));
    return { ...told, topics: [...(told.topics ?? []), ...refused] };
  };
  const unseen = request.groups
    .filter((group) => !groups.includes(group))
    .map(({ groupId }) => ({ groupId, errorCode: errorCodes.GROUP_AUTHORIZATION_FAILED, topics: [] }));
  return { ...answer, groups: [...(answer?.groups ?? []).map(withRefused), ...unseen] };
});

function refusedPartitions({ partitionIndexes }: Indexes) {
  return partitionIndexes.map((partitionIndex) => ({
    partitionIndex,
    committedOffset: -1,
    committedLeaderEpoch: -1,
    metadata: '',
    errorCode: errorCodes.TOPIC_AUTHORIZATION_FAILED,
  }));
}
