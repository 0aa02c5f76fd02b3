// A client of the simulated cluster: finds leaders and coordinators as clients do, and asks again until there is an answer worth having.

import {
  errorByCode,
  errorCodes,
  FindCoordinatorRequest,
  FindCoordinatorResponse,
  type Message,
  type MessageDefinition,
  type MessageInit,
  MetadataRequest,
  MetadataResponse,
} from '@odradek/protocol';
import type { World } from '@odradek/runtime';
import { type BrokerAddress, NoAnswerError, SimulatedClient } from '../simulated-client.ts';

const retryMs = 50;
const metadataVersion = 8;

/** Whom to ask: the leader of a partition, the controller, the coordinator of a group, or anyone. */
export type Target =
  | { readonly leaderOf: { readonly topic: string; readonly partition: number } }
  | { readonly coordinatorOf: string }
  | 'controller'
  | 'anyone';

export class ClusterClient {
  readonly #world: World;
  readonly #bootstrap: readonly BrokerAddress[];
  readonly #clients = new Map<string, SimulatedClient>();
  readonly #addresses = new Map<string, BrokerAddress>();
  #nextBootstrap: number;

  constructor(world: World, bootstrap: readonly BrokerAddress[], firstBootstrap = 0) {
    this.#world = world;
    this.#bootstrap = bootstrap;
    this.#nextBootstrap = firstBootstrap;
  }

  /**
   * Sends the request until it is answered without a retriable error; `errorOf` finds the error of an answer. Any other error is
   * answered too: it is for the caller to judge.
   */
  async ask<Q extends MessageDefinition, A extends MessageDefinition>(
    target: Target,
    versions: readonly [Q, A, number],
    message: MessageInit<Q>,
    errorOf: (answer: Message<A>) => number,
  ): Promise<Message<A>> {
    for (;;) {
      const answer = await this.askWhile(() => true, target, versions, message, errorOf);
      if (answer !== undefined) return answer;
    }
  }

  /** As `ask`, as long as the condition holds; undefined: it does not any more. */
  async askWhile<Q extends MessageDefinition, A extends MessageDefinition>(
    isWanted: () => boolean,
    target: Target,
    [request, response, version]: readonly [Q, A, number],
    message: MessageInit<Q>,
    errorOf: (answer: Message<A>) => number,
  ): Promise<Message<A> | undefined> {
    while (isWanted()) {
      const answer = await this.tryOnce(target, [request, response, version], message);
      if (answer !== undefined) {
        const { code, isRetriable } = errorByCode(errorOf(answer));
        if (code === errorCodes.NONE || !isRetriable) return answer;
      }
      this.forget(target);
      await this.#pause();
    }
    return undefined;
  }

  /** undefined: nobody answered, or nobody knows whom to ask. */
  async tryOnce<Q extends MessageDefinition, A extends MessageDefinition>(
    target: Target,
    [request, response, version]: readonly [Q, A, number],
    message: MessageInit<Q>,
  ): Promise<Message<A> | undefined> {
    try {
      const address = await this.#find(target);
      return address === undefined ? undefined : await this.#clientOf(address).send(request, response, version, message);
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      this.#addresses.delete(keyOf(target));
      return undefined;
    }
  }

  /** Looks again the next time. */
  forget(target: Target): void {
    this.#addresses.delete(keyOf(target));
  }

  close(): void {
    for (const client of this.#clients.values()) client.close();
  }

  async #find(target: Target): Promise<BrokerAddress | undefined> {
    const known = this.#addresses.get(keyOf(target));
    if (known !== undefined) return known;
    const address = await this.#lookUp(target);
    if (address !== undefined) this.#addresses.set(keyOf(target), address);
    return address;
  }

  async #lookUp(target: Target): Promise<BrokerAddress | undefined> {
    const anyone = this.#anyone();
    if (target === 'anyone') return anyone;
    if (target !== 'controller' && 'coordinatorOf' in target) {
      const request = { key: target.coordinatorOf, keyType: 0 };
      const { errorCode, host, port } = await this.#clientOf(anyone).send(
        FindCoordinatorRequest,
        FindCoordinatorResponse,
        2,
        request,
      );
      return errorCode === errorCodes.NONE ? { host, port } : undefined;
    }
    const topics = target === 'controller' ? [] : [{ name: target.leaderOf.topic }];
    const metadata = await this.#clientOf(anyone).send(MetadataRequest, MetadataResponse, metadataVersion, {
      topics,
      allowAutoTopicCreation: false,
    });
    const id =
      target === 'controller'
        ? metadata.controllerId
        : metadata.topics[0]?.partitions.find(({ partitionIndex }) => partitionIndex === target.leaderOf.partition)?.leaderId;
    const broker = metadata.brokers.find(({ nodeId }) => nodeId === id);
    return broker === undefined ? undefined : { host: broker.host, port: broker.port };
  }

  #anyone(): BrokerAddress {
    const index = this.#nextBootstrap++ % this.#bootstrap.length;
    return this.#bootstrap[index] as BrokerAddress;
  }

  #clientOf(address: BrokerAddress): SimulatedClient {
    const key = `${address.host}:${address.port}`;
    const existing = this.#clients.get(key);
    if (existing !== undefined) return existing;
    const client = new SimulatedClient(this.#world, address);
    this.#clients.set(key, client);
    return client;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#world.timer.schedule(retryMs, resolve));
  }
}

function keyOf(target: Target): string {
  return JSON.stringify(target);
}
