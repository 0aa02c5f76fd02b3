// Reads a regular expression over topic names, in the syntax of RE2, into a tree. Topic names consist of 65 characters only, so a
// character class is simply the set of those that it contains.
//
//   expression   = sequence { "|" sequence }
//   sequence     = { atom [ "*" | "+" | "?" | "{" n [ "," [ m ] ] "}" ] [ "?" ] }      the last ? asks for fewer; it matches the same
//   atom         = character | "." | class | escape | "^" | "$" | "(" [ "?:" | "?P<name>" | "?<name>" | "?flags" | "?flags:" ] expression ")"

const alphabet = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-'];

/** RE2's own limit on a repetition. */
const maxRepeat = 1000;
const maxDepth = 200;

export class InvalidPatternError extends Error {}

export type Assertion = 'start' | 'end' | 'boundary' | 'noBoundary';

export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'set'; readonly set: ReadonlySet<string> }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'sequence' | 'choice'; readonly nodes: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly node: PatternNode; readonly min: number; readonly max: number };

/** Throws InvalidPatternError for what RE2 does not take. */
export function parseTopicPattern(source: string): PatternNode {
  return new Parser(source).parse();
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

  parse(): PatternNode {
    const node = this.#choice();
    if (this.#position < this.#source.length) this.#fail('unexpected )');
    return node;
  }

  #choice(): PatternNode {
    if (++this.#depth > maxDepth) this.#fail('expression nests too deeply');
    const nodes = [this.#sequence()];
    while (this.#take('|')) nodes.push(this.#sequence());
    this.#depth -= 1;
    return nodes.length === 1 ? (nodes[0] as PatternNode) : { kind: 'choice', nodes };
  }

  #sequence(): PatternNode {
    const nodes: PatternNode[] = [];
    while (this.#position < this.#source.length && !this.#at('|') && !this.#at(')')) {
      if (this.#take('\\Q')) nodes.push(...this.#quoted());
      else nodes.push(this.#repeated(this.#atom()));
    }
    return { kind: 'sequence', nodes };
  }

  /** Up to \E everything is meant as it stands. */
  #quoted(): PatternNode[] {
    const end = this.#source.indexOf('\\E', this.#position);
    const text = this.#source.slice(this.#position, end < 0 ? undefined : end);
    this.#position = end < 0 ? this.#source.length : end + 2;
    return [...text].map((character) => this.#literal(character));
  }

  #repeated(node: PatternNode): PatternNode {
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

  #atom(): PatternNode {
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

  #group(): PatternNode {
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

  #escape(): PatternNode {
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

  #literal(character: string): PatternNode {
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
