// FindCoordinator (10): Finds the broker that coordinates a group, a transactional id or a share partition.
//
//   1  can ask for transactional ids; adds keyType to the request, throttleTimeMs and errorMessage to the response
//   2  is as 1: the client waits itself when it is throttled
//   3  is flexible
//   4  asks for several keys at once; adds coordinatorKeys to the request, coordinators to the response; drops key from the
//      request, errorCode, errorMessage, nodeId, host and port from the response
//   5  the client understands TRANSACTION_ABORTABLE
//   6  can ask for share partitions

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const FindCoordinatorRequest = message({
  name: 'FindCoordinatorRequest',
  type: 'request',
  apiKey: 10,
  versions: '0-6',
  flexible: '3+',
  fields: {
    /** A group id, a transactional id, or `group:topicId:partition`. Up to version 3. */
    key: string({ versions: '0-3' }),
    /** 0 group, 1 transactional id, 2 share partition. */
    keyType: int8({ versions: '1+' }),
    /** From version 4 on in place of key. */
    coordinatorKeys: array(string(), { versions: '4+' }),
  },
});
export type FindCoordinatorRequest = Message<typeof FindCoordinatorRequest>;

export const FindCoordinatorResponse = message({
  name: 'FindCoordinatorResponse',
  type: 'response',
  apiKey: 10,
  versions: '0-6',
  flexible: '3+',
  fields: {
    throttleTimeMs: int32({ versions: '1+', ignorable: true }),
    errorCode: int16({ versions: '0-3' }),
    errorMessage: string({ versions: '1-3', nullable: '0+', ignorable: true }),
    nodeId: int32({ versions: '0-3' }),
    host: string({ versions: '0-3' }),
    port: int32({ versions: '0-3' }),
    coordinators: array(
      struct({
        key: string(),
        nodeId: int32(),
        host: string(),
        port: int32(),
        errorCode: int16(),
        errorMessage: string({ nullable: '0+', ignorable: true }),
      }),
      { versions: '4+' },
    ),
  },
});
export type FindCoordinatorResponse = Message<typeof FindCoordinatorResponse>;
