// How an authenticated principal travels inside an Envelope request. An int16, the version, goes before it.

import { bool, type Message, message, string } from '../schema/define.ts';

export const DefaultPrincipalData = message({
  name: 'DefaultPrincipalData',
  type: 'data',
  versions: '0',
  flexible: '0+',
  fields: {
    type: string(),
    name: string(),
    tokenAuthenticated: bool(),
  },
});
export type DefaultPrincipalData = Message<typeof DefaultPrincipalData>;
