// GetTelemetrySubscriptions (71): A client asks which of its metrics the cluster would like to have.

import { array, bool, int8, int16, int32, type Message, message, string, uuid } from '../schema/define.ts';

export const GetTelemetrySubscriptionsRequest = message({
  name: 'GetTelemetrySubscriptionsRequest',
  type: 'request',
  apiKey: 71,
  versions: '0',
  flexible: '0+',
  fields: {
    clientInstanceId: uuid(),
  },
});
export type GetTelemetrySubscriptionsRequest = Message<typeof GetTelemetrySubscriptionsRequest>;

export const GetTelemetrySubscriptionsResponse = message({
  name: 'GetTelemetrySubscriptionsResponse',
  type: 'response',
  apiKey: 71,
  versions: '0',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    clientInstanceId: uuid(),
    subscriptionId: int32(),
    acceptedCompressionTypes: array(int8()),
    pushIntervalMs: int32(),
    telemetryMaxBytes: int32(),
    deltaTemporality: bool(),
    requestedMetrics: array(string()),
  },
});
export type GetTelemetrySubscriptionsResponse = Message<typeof GetTelemetrySubscriptionsResponse>;
