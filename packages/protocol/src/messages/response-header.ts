// The header of every response. Version 1 adds tagged fields; the answer to ApiVersions always has version 0, because who asks
// does not know yet what the broker speaks.

import { int32, type Message, message } from '../schema/define.ts';

export const ResponseHeader = message({
  name: 'ResponseHeader',
  type: 'header',
  versions: '0-1',
  flexible: '1+',
  fields: {
    correlationId: int32(),
  },
});
export type ResponseHeader = Message<typeof ResponseHeader>;
