// AlterConfigs (33): the values given become all that a resource has; what is not named goes back to its default. Clients use
// IncrementalAlterConfigs where they can. Loggers cannot be changed in this way.

import { AlterConfigsRequest, AlterConfigsResponse, type Message, type MessageInit, type ProtocolError } from '@odradek/protocol';
import type { ConfigChanges } from '../admin/config-changes.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

type Resource = Message<typeof AlterConfigsRequest>['resources'][number];

export function alterConfigsHandler(parts: {
  readonly configChanges: Pick<ConfigChanges, 'alter'>;
}): Handler<typeof AlterConfigsRequest, typeof AlterConfigsResponse> {
  return defineHandler(AlterConfigsRequest, AlterConfigsResponse, {
    async handle({ resources, validateOnly }) {
      const errors = await parts.configChanges.alter(resources, { validateOnly });
      return { responses: resources.map((resource, index) => outcome(resource, errors[index])) };
    },
    errorResponse: ({ resources }, error) => ({ responses: resources.map((resource) => outcome(resource, error)) }),
  });
}

function outcome(
  { resourceType, resourceName }: Resource,
  error: ProtocolError | undefined,
): NonNullable<MessageInit<typeof AlterConfigsResponse>['responses']>[number] {
  return { errorCode: error?.code ?? 0, errorMessage: error?.message ?? null, resourceType, resourceName };
}
