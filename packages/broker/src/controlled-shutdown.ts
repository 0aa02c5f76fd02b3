// Before a broker stops it hands over: it asks the controller to move what it leads to others, a few times if need be. When that does not
// come about, because nobody else is in sync or there is no controller, it stops all the same.

import { ConnectionError } from '@odradek/client/connection';
import { ControlledShutdownRequest, ControlledShutdownResponse, errorByCode, errorCodes } from '@odradek/protocol';
import type { Logger, Timer } from '@odradek/runtime';
import type { ControllerClient } from './controller/controller-client.ts';

export interface ControlledShutdownParts {
  readonly controller: Pick<ControllerClient, 'send'>;
  readonly brokerId: number;
  readonly brokerEpoch: number;
  /** controlled.shutdown.max.retries */
  readonly attempts: number;
  /** controlled.shutdown.retry.backoff.ms */
  readonly backoffMs: number;
  readonly timer: Timer;
  readonly logger: Logger;
}

const exchange = { request: ControlledShutdownRequest, response: ControlledShutdownResponse };

/** Whether everything has been handed over. */
export async function handOver(parts: ControlledShutdownParts): Promise<boolean> {
  const { attempts, backoffMs, timer, logger } = parts;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attempt > 1) await new Promise<void>((resolve) => timer.schedule(backoffMs, resolve));
    const problem = await tryHandOver(parts);
    if (problem === undefined) return true;
    logger.warn('Not everything could be handed over', { attempt, reason: problem });
  }
  logger.warn('Stopping without having handed everything over');
  return false;
}

/** undefined: done. */
async function tryHandOver({ controller, brokerId, brokerEpoch }: ControlledShutdownParts): Promise<string | undefined> {
  try {
    const { errorCode, remainingPartitions } = await controller.send(exchange, { brokerId, brokerEpoch }, { patienceMs: 0 });
    if (errorCode !== errorCodes.NONE) return `the controller answers ${errorByCode(errorCode).name}`;
    if (remainingPartitions.length === 0) return undefined;
    const names = remainingPartitions.slice(0, 10).map(({ topicName, partitionIndex }) => `${topicName}-${partitionIndex}`);
    return `this broker still leads ${remainingPartitions.length} partitions: ${names.join(', ')}`;
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    return error.message;
  }
}
