// DescribeConfigs (32): tells the configuration of topics, brokers, groups, subscriptions to client metrics, and the levels of
// loggers. Version 1 replaced "is the default" by the source of each value and can list synonyms; version 3 can add types and
// documentation.

import {
  DescribeConfigsRequest,
  DescribeConfigsResponse,
  errorCodes,
  type Message,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import { type ConfigChanges, configResourceTypes } from '../admin/config-changes.ts';
import {
  brokerDefaultEntries,
  brokerEntries,
  type ConfigEntry,
  clientMetricsEntries,
  configSources,
  groupEntries,
  loggerEntries,
  topicEntries,
} from '../admin/config-entries.ts';
import type { BrokerConfig } from '../broker-config.ts';
import { topicNameProblem } from '../config/topic-name.ts';
import type { PartLoggers } from '../logging/part-loggers.ts';
import type { MetadataCache } from '../metadata/metadata-cache.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export interface DescribeConfigsParts {
  readonly brokerId: number;
  readonly config: BrokerConfig;
  readonly configChanges: Pick<ConfigChanges, 'overrides' | 'loadTopics'>;
  readonly metadataCache: Pick<MetadataCache, 'current'>;
  readonly loggers: Pick<PartLoggers, 'levels'>;
}

type Resource = Message<typeof DescribeConfigsRequest>['resources'][number];
type Result = NonNullable<MessageInit<typeof DescribeConfigsResponse>['results']>[number];

export function describeConfigsHandler(
  parts: DescribeConfigsParts,
): Handler<typeof DescribeConfigsRequest, typeof DescribeConfigsResponse> {
  return defineHandler(DescribeConfigsRequest, DescribeConfigsResponse, {
    async handle(request, { apiVersion }) {
      const topics = request.resources.filter(({ resourceType }) => resourceType === configResourceTypes.TOPIC);
      await parts.configChanges.loadTopics(topics.map(({ resourceName }) => resourceName).filter((name) => isTopic(parts, name)));
      return {
        results: request.resources.map((resource) => {
          try {
            const wanted = entriesOf(parts, resource).filter((entry) => isWanted(resource, entry));
            return {
              ...outcome(resource, errorCodes.NONE, ''),
              configs: wanted.map((entry) => toResponse(entry, request, apiVersion)),
            };
          } catch (error) {
            if (error instanceof ProtocolError) return outcome(resource, error.code, error.message);
            throw error;
          }
        }),
      };
    },
    errorResponse: ({ resources }, error) => ({
      results: resources.map((resource) => outcome(resource, error.code, error.message)),
    }),
  });
}

function isTopic({ metadataCache }: DescribeConfigsParts, name: string): boolean {
  return metadataCache.current.topic(name) !== undefined;
}

function entriesOf(parts: DescribeConfigsParts, { resourceType, resourceName }: Resource): ConfigEntry[] {
  const { config, configChanges, brokerId } = parts;
  switch (resourceType) {
    case configResourceTypes.TOPIC: {
      const problem = topicNameProblem(resourceName);
      if (problem !== undefined) throw new ProtocolError(errorCodes.INVALID_TOPIC_EXCEPTION, problem);
      if (!isTopic(parts, resourceName)) throw new ProtocolError(errorCodes.UNKNOWN_TOPIC_OR_PARTITION);
      return topicEntries(config, configChanges.overrides({ type: configResourceTypes.TOPIC, name: resourceName }));
    }
    case configResourceTypes.BROKER:
      if (resourceName === '') return brokerDefaultEntries(config);
      if (brokerNumber(resourceName) !== brokerId) {
        throw invalid(`Unexpected broker id, expected ${brokerId} or empty string, but received ${resourceName}`);
      }
      return brokerEntries(config);
    case configResourceTypes.BROKER_LOGGER:
      if (resourceName === '') throw invalid('Broker id must not be empty');
      if (brokerNumber(resourceName) !== brokerId) {
        throw invalid(`Unexpected broker id, expected ${brokerId} but received ${resourceName}`);
      }
      return loggerEntries(parts.loggers.levels());
    case configResourceTypes.GROUP:
      if (resourceName === '') throw invalid('Group name must not be empty');
      return groupEntries(config, configChanges.overrides({ type: configResourceTypes.GROUP, name: resourceName }));
    case configResourceTypes.CLIENT_METRICS:
      if (resourceName === '') throw invalid('Client metrics subscription name must not be empty');
      return clientMetricsEntries(configChanges.overrides({ type: configResourceTypes.CLIENT_METRICS, name: resourceName }));
    default:
      throw invalid(`Unexpected resource type ${resourceType} for resource ${resourceName}`);
  }
}

function brokerNumber(name: string): number {
  if (!/^[+-]?\d+$/.test(name)) throw invalid(`Broker id must be an integer, but it is: ${name}`);
  return Number(name);
}

function invalid(message: string): ProtocolError {
  return new ProtocolError(errorCodes.INVALID_REQUEST, message);
}

/** No list of names, and an empty one, ask for all. */
function isWanted({ configurationKeys }: Resource, { name }: ConfigEntry): boolean {
  return configurationKeys === null || configurationKeys.length === 0 || configurationKeys.includes(name);
}

function toResponse(
  entry: ConfigEntry,
  request: Message<typeof DescribeConfigsRequest>,
  apiVersion: number,
): NonNullable<Result['configs']>[number] {
  return {
    ...entry,
    isDefault: apiVersion === 0 && entry.configSource === configSources.DEFAULT_CONFIG,
    synonyms: request.includeSynonyms ? entry.synonyms : [],
    documentation: request.includeDocumentation ? entry.documentation : null,
  };
}

function outcome({ resourceType, resourceName }: Resource, errorCode: number, errorMessage: string | null): Result {
  return { errorCode, errorMessage, resourceType, resourceName, configs: [] };
}
