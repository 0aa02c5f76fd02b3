// ElectLeaders (43): Elects leaders: the preferred ones, or unclean ones where nobody in sync is left.
//
//   1  can elect unclean leaders, and has an error for the request as a whole; adds electionType to the request, errorCode to
//      the response
//   2  is flexible

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ElectLeadersRequest = message({
  name: 'ElectLeadersRequest',
  type: 'request',
  apiKey: 43,
  versions: '0-2',
  flexible: '2+',
  fields: {
    /** 0 preferred, 1 unclean. */
    electionType: int8({ versions: '1+' }),
    /** Null: all. */
    topicPartitions: array(
      struct({
        topic: string(),
        partitions: array(int32()),
      }),
      { nullable: '0+' },
    ),
    timeoutMs: int32({ default: 60000 }),
  },
});
export type ElectLeadersRequest = Message<typeof ElectLeadersRequest>;

export const ElectLeadersResponse = message({
  name: 'ElectLeadersResponse',
  type: 'response',
  apiKey: 43,
  versions: '0-2',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16({ versions: '1+' }),
    replicaElectionResults: array(
      struct({
        topic: string(),
        partitionResult: array(
          struct({
            partitionId: int32(),
            errorCode: int16(),
            errorMessage: string({ nullable: '0+' }),
          }),
        ),
      }),
    ),
  },
});
export type ElectLeadersResponse = Message<typeof ElectLeadersResponse>;
