// ListGroups (16): the groups that this broker coordinates.
//
// Version 4 can ask for groups in certain states, 5 for those of certain types. Both are compared without regard to case.

import { ListGroupsRequest, ListGroupsResponse } from '@odradek/protocol';
import type { GroupCoordinator } from '../groups/group-coordinator.ts';
import { defineHandler, type Handler } from '../requests/handler.ts';

export function listGroupsHandler(groups: GroupCoordinator): Handler<typeof ListGroupsRequest, typeof ListGroupsResponse> {
  return defineHandler(ListGroupsRequest, ListGroupsResponse, {
    async handle(request) {
      const states = lowerCased(request.statesFilter);
      const types = lowerCased(request.typesFilter);
      const listed = await groups.list();
      return {
        groups: listed.filter(({ groupState, groupType }) => passes(states, groupState) && passes(types, groupType)),
      };
    },
  });
}

function lowerCased(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}

/** An empty filter lets everything pass. */
function passes(filter: ReadonlySet<string>, name: string | undefined): boolean {
  return filter.size === 0 || filter.has((name ?? '').toLowerCase());
}
