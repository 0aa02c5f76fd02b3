// Regular expressions over topic names, in the syntax of RE2, for consumers that subscribe by one. An expression comes from a
// client and meets every topic of the cluster, so it must never take long: it is compiled to a non-deterministic automaton, and
// a name is matched in time proportional to its length and the automaton's size, whatever the expression. (JavaScript's own
// engine goes back and forth, for ever if the expression is malicious.)
//
// Topic names consist of 65 characters only, so a character class is simply the set of those that it contains.
//
//   expression   = sequence { "|" sequence }
//   sequence     = { atom [ "*" | "+" | "?" | "{" n [ "," [ m ] ] "}" ] [ "?" ] }      the last ? asks for fewer; it matches the same
//   atom         = character | "." | class | escape | "^" | "$" | "(" [ "?:" | "?P<name>" | "?<name>" | "?flags" | "?flags:" ] expression ")"

const alphabet = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'];

/** RE2's own limit on a repetition. */
const maxRepeat = 1000;
/** Repetitions of repetitions multiply; beyond this an expression is refused. */
const maxStates = 2_000;
/** Repetitions of nothing make no states, and take their time all the same. */
const maxEmitted = 10 * maxStates;
const maxDepth = 200;
/** Longer than any expression that says something about topic names, which have 249 characters at most. */
const maxLength = 10_000;

export class InvalidPatternError extends Error {}

export interface TopicPattern {
  /** Whether the whole name matches. */
  matches(topic: string): boolean;
}

type Assertion = 'start' | 'end' | 'boundary' | 'noBoundary';

type Node =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: ReadonlySet<string> }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly min: number; readonly max: number };

/** One state: what it takes to go on to `next`; a split has two ways and takes nothing. */
type State =
  | { readonly kind: 'set'; readonly set: ReadonlySet<string>; readonly next: number }
  | { readonly kind: 'assert'; readonly assertion: Assertion; readonly next: number }
  | { readonly kind: 'split'; next: number; other: number }
  | { readonly kind: 'accept' };

/** Throws InvalidPatternError for what RE2 does not take. */
export function compileTopicPattern(source: string): TopicPattern {
  if (source.length > maxLength) throw new InvalidPatternError('expression too large');
  const node = new Parser(source).parse();
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
function emit(node: Node, next: number, program: Program): number {
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

const perlClasses: Readonly<Record<string, RegExp>> = { d: /\d/, D: /\D/, s: /[\t\n\f\r ]/, S: /[^\t\n\f\r ]/, w: /\w/, W: /\W/ };

const posixClasses: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  ascii: /[\x00-\x7f]/,
  blank: /[\t ]/,
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t\n\v\f\r ]/,
  upper: /[A-Z]/,
  word: /[0-9A-Za-z_]/,
  xdigit: /[0-9A-Fa-f]/,
};

const escapedCharacters: Readonly<Record<string, string>> = { a: '\x07', f: '\f', t: '\t', n: '\n', r: '\r', v: '\v' };

class Parser {
  readonly #source: string;
  #position = 0;
  #depth = 0;
  #ignoresCase = false;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node {
    const node = this.#choice();
    if (this.#position < this.#source.length) this.#fail('unexpected )');
    return node;
  }

  #choice(): Node {
    if (++this.#depth > maxDepth) this.#fail('expression nests too deeply');
    const nodes = [this.#sequence()];
    while (this.#take('|')) nodes.push(this.#sequence());
    this.#depth -= 1;
    return nodes.length === 1 ? (nodes[0] as Node) : { kind: 'choice', nodes };
  }

  #sequence(): Node {
    const nodes: Node[] = [];
    while (this.#position < this.#source.length && !this.#at('|') && !this.#at(')')) {
      if (this.#take('\\Q')) nodes.push(...this.#quoted());
      else nodes.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', nodes };
  }

  /** Up to \E everything is meant as it stands. */
  #quoted(): Node[] {
    const end = this.#source.indexOf('\\E', this.#position);
    const text = this.#source.slice(this.#position, end < 0 ? undefined : end);
    this.#position = end < 0 ? this.#source.length : end + 2;
    return [...text].map((character) => this.#literal(character));
  }

  #repeated(node: Node): Node {
    let repeated = node;
    for (let isFirst = true; ; isFirst = false) {
      const before = this.#position;
      const range = this.#repetition();
      if (range === undefined) return repeated;
      if (!isFirst) this.#fail(`invalid nested repetition operator: ${this.#source.slice(before, this.#position)}`);
      repeated = { kind: 'repeat', node: repeated, ...range };
      this.#take('?');
    }
  }

  #repetition(): { readonly min: number; readonly max: number } | undefined {
    if (this.#take('*')) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (this.#take('+')) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (this.#take('?')) return { min: 0, max: 1 };
    const [text, least, , most] = /^\{(\d+)(,(\d*))?\}/.exec(this.#source.slice(this.#position)) ?? [];
    // A brace that is no repetition is a brace.
    if (text === undefined || least === undefined) return undefined;
    this.#position += text.length;
    const min = Number(least);
    const max = most === undefined ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most);
    const isTooMuch = min > maxRepeat || (max !== Number.POSITIVE_INFINITY && (max > maxRepeat || max < min));
    if (isTooMuch) this.#fail(`bad repetition operator: ${text}`);
    return { min, max };
  }

  #atom(): Node {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'set', set: this.#class() };
    if (this.#take('^')) return { kind: 'assert', assertion: 'start' };
    if (this.#take('$')) return { kind: 'assert', assertion: 'end' };
    if (this.#take('.')) return { kind: 'set', set: new Set(alphabet) };
    if (this.#take('\\')) return this.#escape();
    const character = this.#next();
    if (character === '*' || character === '+' || character === '?')
      this.#fail(`missing argument to repetition operator: ${character}`);
    return this.#literal(character);
  }

  #group(): Node {
    const ignoredCase = this.#ignoresCase;
    if (this.#take('?')) {
      const [named] = /^P?<[A-Za-z0-9_]+>/.exec(this.#source.slice(this.#position)) ?? [];
      if (named !== undefined) this.#position += named.length;
      else if (this.#flags()) return { kind: 'empty' };
    }
    const node = this.#choice();
    if (!this.#take(')')) this.#fail('missing closing )');
    this.#ignoresCase = ignoredCase;
    return node;
  }

  /** `(?i)` holds for the rest of the group, and true is returned; `(?i:` for the new one. */
  #flags(): boolean {
    const [text, on = '', , off = '', end] = /^([imsU]*)(-([imsU]+))?([:)])/.exec(this.#source.slice(this.#position)) ?? [];
    if (text === undefined) this.#fail('invalid or unsupported Perl syntax');
    this.#position += text.length;
    // The others are about line ends and greed, which make no difference to whole names.
    if (on.includes('i')) this.#ignoresCase = true;
    if (off.includes('i')) this.#ignoresCase = false;
    return end === ')';
  }

  #escape(): Node {
    const character = this.#next();
    switch (character) {
      case 'A':
        return { kind: 'assert', assertion: 'start' };
      case 'z':
        return { kind: 'assert', assertion: 'end' };
      case 'b':
        return { kind: 'assert', assertion: 'boundary' };
      case 'B':
        return { kind: 'assert', assertion: 'noBoundary' };
      default:
        return { kind: 'set', set: this.#escapedSet(character) ?? this.#caseless([this.#escapedCharacter(character)]) };
    }
  }

  /** The set of a class escape such as \d or \pL; undefined: it is a character. */
  #escapedSet(character: string): ReadonlySet<string> | undefined {
    const perl = perlClasses[character];
    if (perl !== undefined) return this.#caseless(alphabet.filter((each) => perl.test(each)));
    if (character !== 'p' && character !== 'P') return undefined;
    const [text, braced, single] = /^(?:\{(\^?\w+)\}|(\w))/.exec(this.#source.slice(this.#position)) ?? [];
    const name = (braced ?? single ?? '').replace('^', '');
    if (text === undefined) this.#fail('invalid character class range: \\p');
    this.#position += text.length;
    const isNegated = (character === 'P') !== (braced?.startsWith('^') ?? false);
    const matching = this.#unicodeClass(name);
    return this.#caseless(alphabet.filter((each) => matching.test(each) !== isNegated));
  }

  #unicodeClass(name: string): RegExp {
    if (name === 'Any') return /./su;
    for (const property of [`\\p{${name}}`, `\\p{Script=${name}}`]) {
      try {
        return new RegExp(property, 'u');
      } catch {
        // Not a category; perhaps a script.
      }
    }
    return this.#fail(`invalid character class range: \\p{${name}}`);
  }

  #escapedCharacter(character: string): string {
    const named = escapedCharacters[character];
    if (named !== undefined) return named;
    const rest = this.#source.slice(this.#position);
    if (character === 'x') {
      const [text, braced, two] = /^(?:\{([0-9A-Fa-f]{1,6})\}|([0-9A-Fa-f]{2}))/.exec(rest) ?? [];
      const code = Number.parseInt(braced ?? two ?? '', 16);
      if (text === undefined || code > 0x10ffff) this.#fail('invalid escape sequence: \\x');
      this.#position += text.length;
      return String.fromCodePoint(code);
    }
    const [octal] = (character === '0' ? /^[0-7]{0,2}/ : /^[0-7]{2}/).exec(rest) ?? [];
    if (/[0-7]/.test(character) && octal !== undefined) {
      this.#position += octal.length;
      return String.fromCodePoint(Number.parseInt(character + octal, 8));
    }
    if (/[A-Za-z0-9]/.test(character) || character === '') this.#fail(`invalid escape sequence: \\${character}`);
    return character;
  }

  /** Between [ and ]. */
  #class(): ReadonlySet<string> {
    const isNegated = this.#take('^');
    const members = new Set<string>();
    for (let isFirst = true; isFirst || !this.#at(']'); isFirst = false) {
      if (this.#position >= this.#source.length) this.#fail('missing closing ]');
      const [posix, not, name = ''] = /^\[:(\^?)(\w+):\]/.exec(this.#source.slice(this.#position)) ?? [];
      if (posix !== undefined) {
        const matching = posixClasses[name];
        if (matching === undefined) this.#fail(`invalid character class range: ${posix}`);
        this.#position += posix.length;
        for (const each of alphabet) if (matching.test(each) !== (not === '^')) members.add(each);
        continue;
      }
      for (const each of this.#classItem()) members.add(each);
    }
    this.#position += 1;
    const set = this.#caseless(members);
    return isNegated ? new Set(alphabet.filter((each) => !set.has(each))) : set;
  }

  #classItem(): Iterable<string> {
    const from = this.#classCharacter();
    if (typeof from !== 'string') return from;
    // A dash at the end is a dash.
    if (!this.#at('-') || this.#source.charAt(this.#position + 1) === ']') return [from];
    this.#position += 1;
    const to = this.#classCharacter();
    if (typeof to !== 'string' || to < from) this.#fail('invalid character class range');
    return alphabet.filter((each) => each >= from && each <= to);
  }

  #classCharacter(): string | ReadonlySet<string> {
    const character = this.#next();
    if (character === '') this.#fail('missing closing ]');
    if (character !== '\\') return character;
    const escaped = this.#next();
    return this.#escapedSet(escaped) ?? this.#escapedCharacter(escaped);
  }

  #literal(character: string): Node {
    return { kind: 'set', set: this.#caseless([character]) };
  }

  #caseless(characters: Iterable<string>): ReadonlySet<string> {
    const set = new Set(characters);
    if (this.#ignoresCase) for (const each of [...set]) set.add(each.toLowerCase()).add(each.toUpperCase());
    return set;
  }

  #at(text: string): boolean {
    return this.#source.startsWith(text, this.#position);
  }

  #take(text: string): boolean {
    if (!this.#at(text)) return false;
    this.#position += text.length;
    return true;
  }

  /** The next character; empty at the end. */
  #next(): string {
    const code = this.#source.codePointAt(this.#position);
    if (code === undefined) return '';
    const character = String.fromCodePoint(code);
    this.#position += character.length;
    return character;
  }

  #fail(reason: string): never {
    throw new InvalidPatternError(reason);
  }
}
