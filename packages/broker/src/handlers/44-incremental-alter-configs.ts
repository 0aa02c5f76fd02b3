// IncrementalAlterConfigs (44): sets and deletes single values of a resource, and adds to or takes from those that are lists.
// Levels of loggers are changed here and are not kept; everything else is written to the coordination store.

import {
  errorCodes,
  IncrementalAlterConfigsRequest,
  IncrementalAlterConfigsResponse,
  type Message,
  type MessageInit,
  ProtocolError,
} from '@odradek/protocol';
import { type ConfigChanges, configOperations, configResourceTypes } from '../admin/config-changes.ts';
import { isLevelName, levelNames, type PartLoggers, rootLoggerName } from '../logging/part-loggers.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export interface IncrementalAlterConfigsParts {
  readonly brokerId: number;
  readonly configChanges: Pick<ConfigChanges, 'incrementalAlter'>;
  readonly loggers: Pick<PartLoggers, 'levels' | 'setLevel' | 'resetLevel'>;
}

type Resource = Message<typeof IncrementalAlterConfigsRequest>['resources'][number];

export function incrementalAlterConfigsHandler(
  parts: IncrementalAlterConfigsParts,
): Handler<typeof IncrementalAlterConfigsRequest, typeof IncrementalAlterConfigsResponse> {
  return defineHandler(IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse, {
    async handle({ resources, validateOnly }) {
      const isLogger = ({ resourceType }: Resource) => resourceType === configResourceTypes.BROKER_LOGGER;
      const stored = resources.filter((resource) => !isLogger(resource));
      const errors = new Map<Resource, ProtocolError | undefined>();
      const storedErrors = await parts.configChanges.incrementalAlter(stored, { validateOnly });
      stored.forEach((resource, index) => errors.set(resource, storedErrors[index]));
      for (const resource of resources.filter(isLogger))
        errors.set(resource, alterLoggers(parts, resource, resources, validateOnly));
      return { responses: resources.map((resource) => outcome(resource, errors.get(resource))) };
    },
    errorResponse: ({ resources }, error) => ({ responses: resources.map((resource) => outcome(resource, error)) }),
  });
}

/** All of a resource's changes are made, or none. */
function alterLoggers(
  parts: IncrementalAlterConfigsParts,
  resource: Resource,
  all: readonly Resource[],
  validateOnly: boolean,
): ProtocolError | undefined {
  const problem = resourceProblem(parts.brokerId, resource, all);
  if (problem !== undefined) return new ProtocolError(errorCodes.INVALID_REQUEST, problem);
  const known = parts.loggers.levels();
  for (const change of resource.configs) {
    const error = loggerError(change, known);
    if (error !== undefined) return error;
  }
  if (validateOnly) return undefined;
  for (const { name, configOperation, value } of resource.configs) {
    if (configOperation === configOperations.SET && value !== null && isLevelName(value)) parts.loggers.setLevel(name, value);
    else parts.loggers.resetLevel(name);
  }
  return undefined;
}

function resourceProblem(brokerId: number, resource: Resource, all: readonly Resource[]): string | undefined {
  const { resourceType, resourceName, configs } = resource;
  const same = all.filter((other) => other.resourceType === resourceType && other.resourceName === resourceName);
  if (same.length > 1) return 'Each resource must appear at most once.';
  if (!/^[+-]?\d+$/.test(resourceName)) return `Node id must be an integer, but it is: ${resourceName}`;
  if (Number(resourceName) !== brokerId) return `Unexpected broker id, expected ${brokerId}, but received ${resourceName}`;
  const names = configs.map(({ name }) => name);
  if (new Set(names).size !== names.length) return 'Error due to duplicate config keys';
  const empty = configs.filter(({ configOperation, value }) => configOperation !== configOperations.DELETE && value === null);
  return empty.length > 0 ? `Null value not supported for : ${empty.map(({ name }) => name).join(', ')}` : undefined;
}

function loggerError(
  { name, configOperation, value }: Resource['configs'][number],
  known: ReadonlyMap<string, string>,
): ProtocolError | undefined {
  const operation = Object.entries(configOperations).find(([, number]) => number === configOperation)?.[0];
  switch (operation) {
    case 'SET':
      if (!known.has(name)) return new ProtocolError(errorCodes.INVALID_CONFIG, `Logger ${name} does not exist`);
      return isLevelName(value ?? '')
        ? undefined
        : new ProtocolError(errorCodes.INVALID_CONFIG, `${value} is not a log level; those are ${levelNames.join(', ')}`);
    case 'DELETE':
      if (name === rootLoggerName) {
        return new ProtocolError(
          errorCodes.INVALID_REQUEST,
          `The level of the logger ${name}, which all others follow, can only be set`,
        );
      }
      return known.has(name) ? undefined : new ProtocolError(errorCodes.INVALID_CONFIG, `Logger ${name} does not exist`);
    case undefined:
      return new ProtocolError(errorCodes.INVALID_REQUEST, `Unknown operation ${configOperation} for the logger ${name}`);
    default:
      return new ProtocolError(errorCodes.INVALID_REQUEST, `The operation ${operation} is not allowed for loggers`);
  }
}

function outcome(
  { resourceType, resourceName }: Resource,
  error: ProtocolError | undefined,
): NonNullable<MessageInit<typeof IncrementalAlterConfigsResponse>['responses']>[number] {
  return { errorCode: error?.code ?? errorCodes.NONE, errorMessage: error?.message ?? null, resourceType, resourceName };
}
