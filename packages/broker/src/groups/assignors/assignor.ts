// What a server-side assignor of consumer groups gets, and gives back.

import type { TopicPartitions } from '../consumer-member.ts';

export interface AssignorMember {
  readonly instanceId: string | null;
  readonly subscribedTopicIds: ReadonlySet<string>;
  /** What the last target assignment gave it. */
  readonly assigned: TopicPartitions;
}

export interface AssignorInput {
  readonly members: ReadonlyMap<string, AssignorMember>;
  /** Every member subscribes to the same topics. */
  readonly isHomogeneous: boolean;
  /** All topics that are subscribed exist. */
  readonly partitionCount: (topicId: string) => number;
}

export interface Assignor {
  readonly name: string;
  /** Assigns every partition of a topic that is subscribed to exactly one member that subscribes to it. */
  assign(input: AssignorInput): ReadonlyMap<string, TopicPartitions>;
}
