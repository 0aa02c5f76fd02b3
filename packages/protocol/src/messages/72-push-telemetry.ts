// PushTelemetry (72): A client sends its metrics.

import { bool, bytes, int8, int16, int32, type Message, message, uuid } from '../schema/define.ts';

export const PushTelemetryRequest = message({
  name: 'PushTelemetryRequest',
  type: 'request',
  apiKey: 72,
  versions: '0',
  flexible: '0+',
  fields: {
    clientInstanceId: uuid(),
    subscriptionId: int32(),
    terminating: bool(),
    compressionType: int8(),
    metrics: bytes(),
  },
});
export type PushTelemetryRequest = Message<typeof PushTelemetryRequest>;

export const PushTelemetryResponse = message({
  name: 'PushTelemetryResponse',
  type: 'response',
  apiKey: 72,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
  },
});
export type PushTelemetryResponse = Message<typeof PushTelemetryResponse>;
