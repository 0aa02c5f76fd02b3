// AlterReplicaLogDirs (34): Moves replicas between log directories of a broker.
//
//   1  is as 0: the client waits itself when it is throttled
//   2  is flexible

import { array, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const AlterReplicaLogDirsRequest = message({
  name: 'AlterReplicaLogDirsRequest',
  type: 'request',
  apiKey: 34,
  versions: '0-2',
  flexible: '2+',
  fields: {
    dirs: array(
      struct({
        path: string(),
        topics: array(
          struct({
            name: string(),
            partitions: array(int32()),
          }),
        ),
      }),
    ),
  },
});
export type AlterReplicaLogDirsRequest = Message<typeof AlterReplicaLogDirsRequest>;

export const AlterReplicaLogDirsResponse = message({
  name: 'AlterReplicaLogDirsResponse',
  type: 'response',
  apiKey: 34,
  versions: '0-2',
  flexible: '2+',
  fields: {
    throttleTimeMs: int32(),
    results: array(
      struct({
        topicName: string(),
        partitions: array(
          struct({
            partitionIndex: int32(),
            errorCode: int16(),
          }),
        ),
      }),
    ),
  },
});
export type AlterReplicaLogDirsResponse = Message<typeof AlterReplicaLogDirsResponse>;
