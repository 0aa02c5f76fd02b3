// What times out in a consumer group: the session of a member, its giving up of partitions, and, for members of the classic
// protocol, their coming back in a rebalance. Whoever is late is fenced.

import type { CoordinatorTimer, TimerOperation } from '../coordinator/coordinator-timer.ts';

type Purpose = 'session' | 'revocation' | 'join' | 'sync';

export class ConsumerTimers {
  readonly #timer: CoordinatorTimer;
  readonly #fence: (groupId: string, memberId: string, memberEpoch: number | null, reason: string) => ReturnType<TimerOperation>;

  /** `fence` takes the member out; with an epoch, only if the member is still in it. */
  constructor(
    timer: CoordinatorTimer,
    fence: (groupId: string, memberId: string, memberEpoch: number | null, reason: string) => ReturnType<TimerOperation>,
  ) {
    this.#timer = timer;
    this.#fence = fence;
  }

  /** The member has been heard of. */
  expectHeartbeat(groupId: string, memberId: string, sessionTimeoutMs: number): void {
    this.#schedule('session', groupId, memberId, sessionTimeoutMs, null, 'its session has expired');
  }

  /** The member must give up partitions, and so leave its epoch. */
  expectRevocation(groupId: string, memberId: string, memberEpoch: number, rebalanceTimeoutMs: number): void {
    this.#schedule('revocation', groupId, memberId, rebalanceTimeoutMs, memberEpoch, 'it did not give up partitions in time');
  }

  revoked(groupId: string, memberId: string): void {
    this.#cancel('revocation', groupId, memberId);
  }

  /** A member of the classic protocol was told of a rebalance. The first time counts. */
  expectJoin(groupId: string, memberId: string, rebalanceTimeoutMs: number): void {
    if (this.#timer.isScheduled(keyOf('join', groupId, memberId))) return;
    this.#schedule('join', groupId, memberId, rebalanceTimeoutMs, null, 'it did not join again in time');
  }

  joined(groupId: string, memberId: string): void {
    this.#cancel('join', groupId, memberId);
  }

  expectSync(groupId: string, memberId: string, rebalanceTimeoutMs: number): void {
    this.#schedule('sync', groupId, memberId, rebalanceTimeoutMs, null, 'it did not ask for its assignment in time');
  }

  synced(groupId: string, memberId: string): void {
    this.#cancel('sync', groupId, memberId);
  }

  forget(groupId: string, memberId: string): void {
    for (const purpose of ['session', 'revocation', 'join', 'sync'] as const) this.#cancel(purpose, groupId, memberId);
  }

  #schedule(purpose: Purpose, groupId: string, memberId: string, delayMs: number, epoch: number | null, reason: string): void {
    this.#timer.schedule(keyOf(purpose, groupId, memberId), delayMs, () => this.#fence(groupId, memberId, epoch, reason));
  }

  #cancel(purpose: Purpose, groupId: string, memberId: string): void {
    this.#timer.cancel(keyOf(purpose, groupId, memberId));
  }
}

function keyOf(purpose: Purpose, groupId: string, memberId: string): string {
  // A space cannot be told from one in a name, but a length can.
  return `${purpose} ${groupId.length} ${groupId} ${memberId}`;
}
