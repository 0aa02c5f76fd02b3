// Holding clients back that do more than they may: what the router asks for each answer.

import type { Message, MessageDefinition } from '@odradek/protocol';
import type { RequestContext } from './request-context.ts';

/** What a request has cost. */
export interface RequestCost {
  readonly requestBytes: number;
  /** How long the request has kept others waiting: the event loop did nothing else. */
  readonly busyMs: number;
  /** False: the client cannot be told to wait. */
  readonly isAnswered: boolean;
}

export interface AnswerThrottle {
  /** False: nobody is held back, and nothing else is asked. */
  readonly isActive: boolean;
  /** For how long the client has to wait after the answer; 0: not at all. */
  throttleMs(request: Message<MessageDefinition>, context: RequestContext, cost: RequestCost): number;
  /** What came on top of it after the answer was made. */
  addTime(request: Message<MessageDefinition>, context: RequestContext, busyMs: number): void;
}
