// UnregisterController (94): Removes the registration of a controller.

import { int16, int32, type Message, message, string } from '../schema/define.ts';

export const UnregisterControllerRequest = message({
  name: 'UnregisterControllerRequest',
  type: 'request',
  apiKey: 94,
  versions: '0',
  flexible: '0+',
  fields: {
    controllerId: int32(),
  },
});
export type UnregisterControllerRequest = Message<typeof UnregisterControllerRequest>;

export const UnregisterControllerResponse = message({
  name: 'UnregisterControllerResponse',
  type: 'response',
  apiKey: 94,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    errorMessage: string({ nullable: '0+' }),
  },
});
export type UnregisterControllerResponse = Message<typeof UnregisterControllerResponse>;
