// ListConfigResources (74): Lists resources that have configurations of their own. Kafka 3.9 knew version 0 as
// ListClientMetricsResources.
//
//   1  can ask for other types than client metrics; adds resourceTypes to the request, resourceType to the response

import { array, int8, int16, int32, type Message, message, string, struct } from '../schema/define.ts';

export const ListConfigResourcesRequest = message({
  name: 'ListConfigResourcesRequest',
  type: 'request',
  apiKey: 74,
  versions: '0-1',
  flexible: '0+',
  fields: {
    /** Empty: all. Version 0 asks for client metrics. */
    resourceTypes: array(int8(), { versions: '1+' }),
  },
});
export type ListConfigResourcesRequest = Message<typeof ListConfigResourcesRequest>;

export const ListConfigResourcesResponse = message({
  name: 'ListConfigResourcesResponse',
  type: 'response',
  apiKey: 74,
  versions: '0-1',
  flexible: '0+',
  fields: {
    throttleTimeMs: int32(),
    errorCode: int16(),
    configResources: array(
      struct({
        resourceName: string(),
        resourceType: int8({ versions: '1+', default: 16, ignorable: true }),
      }),
    ),
  },
});
export type ListConfigResourcesResponse = Message<typeof ListConfigResourcesResponse>;
