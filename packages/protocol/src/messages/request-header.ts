// The header of every request. Version 0 belonged to the oldest ControlledShutdown alone; version 1 adds the client id, version
// 2 tagged fields.

import { int16, int32, type Message, message, string } from '../schema/define.ts';

export const RequestHeader = message({
  name: 'RequestHeader',
  type: 'header',
  versions: '0-2',
  flexible: '2+',
  fields: {
    requestApiKey: int16(),
    requestApiVersion: int16(),
    /** Comes back in the response. */
    correlationId: int32(),
    /** Keeps its int16 length in flexible versions, so that a broker can read it whatever the version. */
    clientId: string({ versions: '1+', nullable: '0+', flexible: 'none' }),
  },
});
export type RequestHeader = Message<typeof RequestHeader>;
