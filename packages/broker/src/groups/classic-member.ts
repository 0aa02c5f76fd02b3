// One member of a classic group: what it told when it joined, and the requests of its that wait for an answer.

import type { JoinGroupResponse, MessageInit, SyncGroupResponse } from '@odradek/protocol';

/** A protocol that the member can speak, with its metadata for it (a subscription, for consumers), opaque to the coordinator. */
export interface MemberProtocol {
  readonly name: string;
  readonly metadata: Buffer;
}

export type JoinAnswer = MessageInit<typeof JoinGroupResponse>;
export type SyncAnswer = MessageInit<typeof SyncGroupResponse>;

export interface MemberDetails {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly rebalanceTimeoutMs: number;
  readonly sessionTimeoutMs: number;
  readonly protocolType: string;
  readonly protocols: readonly MemberProtocol[];
}

export class ClassicMember {
  readonly memberId: string;
  readonly groupInstanceId: string | null;
  readonly clientId: string;
  readonly clientHost: string;
  readonly protocolType: string;
  rebalanceTimeoutMs: number;
  sessionTimeoutMs: number;
  protocols: readonly MemberProtocol[];
  assignment: Uint8Array = Buffer.alloc(0);
  /** Answers the member's JoinGroup; null while none waits. */
  awaitingJoin: ((answer: JoinAnswer) => void) | null = null;
  /** Answers the member's SyncGroup; null while none waits. */
  awaitingSync: ((answer: SyncAnswer) => void) | null = null;
  /** It joined for the first time and no generation has come since: its client may have given up waiting without our knowing. */
  isNew = false;

  constructor(details: MemberDetails) {
    this.memberId = details.memberId;
    this.groupInstanceId = details.groupInstanceId;
    this.clientId = details.clientId;
    this.clientHost = details.clientHost;
    this.protocolType = details.protocolType;
    this.rebalanceTimeoutMs = details.rebalanceTimeoutMs;
    this.sessionTimeoutMs = details.sessionTimeoutMs;
    this.protocols = details.protocols;
  }

  get isStatic(): boolean {
    return this.groupInstanceId !== null;
  }

  /** A member that waits for us need not send heartbeats. */
  get isWaiting(): boolean {
    return this.awaitingJoin !== null || this.awaitingSync !== null;
  }

  /** The metadata for a protocol. Throws when the member does not speak it. */
  metadata(protocolName: string): Buffer {
    const protocol = this.protocols.find(({ name }) => name === protocolName);
    if (protocol === undefined) throw new Error(`Member ${this.memberId} does not support the protocol ${protocolName}`);
    return protocol.metadata;
  }

  /** The same protocols with the same metadata in the same order. */
  matches(protocols: readonly MemberProtocol[]): boolean {
    return (
      protocols.length === this.protocols.length &&
      protocols.every(({ name, metadata }, index) => {
        const own = this.protocols[index];
        return own !== undefined && own.name === name && own.metadata.equals(metadata);
      })
    );
  }

  /** The first of its protocols that is among the candidates: the member's vote. */
  vote(candidates: ReadonlySet<string>): string {
    const choice = this.protocols.find(({ name }) => candidates.has(name));
    if (choice === undefined) throw new Error(`Member ${this.memberId} supports none of the candidate protocols`);
    return choice.name;
  }
}
