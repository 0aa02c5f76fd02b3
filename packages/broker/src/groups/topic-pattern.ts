// Regular expressions over topic names, in the syntax of RE2, for consumers that subscribe by one. An expression comes from a
// client and meets every topic of the cluster, so it must never take long: it is compiled to a non-deterministic automaton, and
// a name is matched in time proportional to its length and the automaton's size, whatever the expression. (JavaScript's own
// engine goes back and forth, for ever if the expression is malicious.)

import { type Assertion, InvalidPatternError, type PatternNode, parseTopicPattern } from './topic-pattern-parser.ts';

/** Repetitions of repetitions multiply; beyond this an expression is refused. */
const maxStates = 2_000;
/** Repetitions of nothing make no states, and take their time all the same. */
const maxEmitted = 10 * maxStates;
/** Longer than any expression that says something about topic names, which have 249 characters at most. */
const maxLength = 10_000;

export interface TopicPattern {
  /** Whether the whole name matches. */
  matches(topic: string): boolean;
}

/** One state: what it takes to go on to `next`; a split has two ways and takes nothing. */
type State =
  | { readonly kind: 'set'; readonly set: ReadonlySet<string>; readonly next: number }
  | { readonly kind: 'assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'accept' };

/** Throws InvalidPatternError for what RE2 does not take. */
export function compileTopicPattern(source: string): TopicPattern {
  if (source.length > maxLength) throw new InvalidPatternError('expression too large');
  const node = parseTopicPattern(source);
  const program: Program = { states: [{ kind: 'accept' }], emitted: 0 };
  const automaton = new Automaton(program.states, emit(node, 0, program));
  return { matches: (topic) => automaton.accepts(topic) };
}

interface Program {
  readonly states: State[];
  /** How many nodes have been turned into states. */
  emitted: number;
}

/** Adds the states of the node, which go on to `next`, and returns where they begin. */
function emit(node: PatternNode, next: number, program: Program): number {
  const { states } = program;
  program.emitted += 1;
  if (states.length > maxStates || program.emitted > maxEmitted) throw new InvalidPatternError('expression too large');
  switch (node.kind) {
    case 'empty':
      return next;
    case 'set':
      return states.push({ kind: 'set', set: node.set, next }) - 1;
    case 'assert':
      return states.push({ kind: 'assert', assertion: node.assertion, next }) - 1;
    case 'sequence':
      return node.nodes.reduceRight((after, part) => emit(part, after, program), next);
    case 'choice':
      return node.nodes
        .map((part) => emit(part, next, program))
        .reduce((other, start) => states.push({ kind: 'split', next: start, other }) - 1);
    case 'repeat': {
      let start = next;
      if (node.max === Number.POSITIVE_INFINITY) {
        const loop: State = { kind: 'split', next, other: next };
        start = states.push(loop) - 1;
        loop.next = emit(node.node, start, program);
      } else {
        for (let count = node.min; count < node.max; count++) {
          start = states.push({ kind: 'split', next: emit(node.node, start, program), other: next }) - 1;
        }
      }
      for (let count = 0; count < node.min; count++) start = emit(node.node, start, program);
      return start;
    }
  }
}

/** Keeps all states in which it can be, character by character; for one character it comes to each state once at most. */
class Automaton {
  readonly #states: readonly State[];
  readonly #start: number;
  /** In which step each state was come to last. */
  readonly #cameIn: Uint32Array;
  #step = 0;
  #current: number[] = [];
  #next: number[] = [];

  constructor(states: readonly State[], start: number) {
    this.#states = states;
    this.#start = start;
    this.#cameIn = new Uint32Array(states.length);
  }

  accepts(topic: string): boolean {
    this.#begin();
    this.#comeTo(this.#start, topic, 0);
    for (let position = 0; position < topic.length && this.#next.length > 0; position++) {
      const character = topic.charAt(position);
      this.#begin();
      for (const index of this.#current) {
        const state = this.#states[index];
        if (state?.kind === 'set' && state.set.has(character)) this.#comeTo(state.next, topic, position + 1);
      }
    }
    return this.#next.some((index) => this.#states[index]?.kind === 'accept');
  }

  #begin(): void {
    [this.#current, this.#next] = [this.#next, this.#current];
    this.#next.length = 0;
    this.#step += 1;
  }

  /** Adds the state, and those to which one gets from it without taking a character. */
  #comeTo(from: number, topic: string, position: number): void {
    const waiting = [from];
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      if (this.#cameIn[index] === this.#step) continue;
      this.#cameIn[index] = this.#step;
      this.#next.push(index);
      const state = this.#states[index];
      if (state?.kind === 'split') waiting.push(state.next, state.other);
      else if (state?.kind === 'assert' && holds(state.assertion, topic, position)) waiting.push(state.next);
    }
  }
}

function holds(assertion: Assertion, topic: string, position: number): boolean {
  const isWord = (at: number): boolean => /\w/.test(topic.charAt(at));
  switch (assertion) {
    case 'start':
      return position === 0;
    case 'end':
      return position === topic.length;
    case 'boundary':
      return isWord(position - 1) !== isWord(position);
    case 'noBoundary':
      return isWord(position - 1) === isWord(position);
  }
}
