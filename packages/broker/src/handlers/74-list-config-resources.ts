// ListConfigResources (74): names the resources that have, or can have, a configuration. Version 0 knows subscriptions to client
// metrics only; version 1 asks for kinds of resources, and for all of them when it names none.

import { errorCodes, ListConfigResourcesRequest, ListConfigResourcesResponse, ProtocolError } from '@odradek/protocol';
import { type ConfigChanges, configResourceTypes } from '../admin/config-changes.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

interface ListConfigResourcesParts {
  readonly metadataCache: Pick<MetadataCache, 'current'>;
  readonly configChanges: Pick<ConfigChanges, 'names'>;
}

const allTypes = [
  configResourceTypes.TOPIC,
  configResourceTypes.BROKER,
  configResourceTypes.BROKER_LOGGER,
  configResourceTypes.CLIENT_METRICS,
  configResourceTypes.GROUP,
];

export function listConfigResourcesHandler(
  parts: ListConfigResourcesParts,
): Handler<typeof ListConfigResourcesRequest, typeof ListConfigResourcesResponse> {
  return defineHandler(ListConfigResourcesRequest, ListConfigResourcesResponse, {
    handle({ resourceTypes }, { apiVersion, listenerName }) {
      const types =
        apiVersion === 0
          ? [configResourceTypes.CLIENT_METRICS]
          : resourceTypes.length === 0
            ? allTypes
            : [...new Set(resourceTypes)];
      return {
        configResources: types.flatMap((resourceType) =>
          namesOf(parts, resourceType, listenerName).map((resourceName) => ({ resourceName, resourceType })),
        ),
      };
    },
  });
}

function namesOf({ metadataCache, configChanges }: ListConfigResourcesParts, resourceType: number, listenerName: string): string[] {
  const metadata = metadataCache.current;
  switch (resourceType) {
    case configResourceTypes.TOPIC:
      return [...metadata.topics()].map(({ name }) => name);
    case configResourceTypes.BROKER:
    case configResourceTypes.BROKER_LOGGER:
      return [...metadata.brokers()]
        .filter(({ id }) => metadata.endpoint(id, listenerName) !== undefined)
        .map(({ id }) => String(id));
    case configResourceTypes.CLIENT_METRICS:
    case configResourceTypes.GROUP:
      return configChanges.names(resourceType);
    default:
      throw new ProtocolError(errorCodes.UNSUPPORTED_VERSION, `Resources of type ${resourceType} cannot be listed`);
  }
}
