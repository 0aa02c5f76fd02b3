// FindCoordinator (10): TODO
//
// Version 1 adds keyType to the request and adds throttleTimeMs and errorMessage to the response. Version 2 has the same
// layout. Version 3 is the first flexible one. Version 4 adds coordinatorKeys to the request, adds coordinators to the
// response, drops key from the request, and drops errorCode, errorMessage, nodeId, host and port from the response. Versions 5
// and 6 have the same layout.

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const FindCoordinatorRequest = message({
  name: 'FindCoordinatorRequest',
  type: 'request',
  apiKey: 10,
  versions: '0-6',
  flexible: '3+',
  fields: {
    key: string({ versions: '0-3' }),
    keyType: int8({ versions: '1+' }),
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
