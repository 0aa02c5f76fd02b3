// Looks up regular expressions among the topics of the cluster as they were when it began, a while at a time: both may be many.

import type { MetadataSnapshot } from '../metadata/metadata-cache.ts';
import { compileTopicPattern, type TopicPattern } from './topic-pattern.ts';
import { InvalidPatternError } from './topic-pattern-parser.ts';

export class RegexLookup {
  /** The topics that each expression matches as a whole, as far as it has been looked up. */
  readonly found: ReadonlyMap<string, Set<string>>;
  readonly #steps: Iterator<void>;

  /** Topics that may not be seen are not matched. */
  constructor(regexes: Iterable<string>, metadata: MetadataSnapshot, maySee: (topic: string) => boolean = () => true) {
    this.found = new Map([...regexes].map((regex) => [regex, new Set<string>()]));
    this.#steps = this.#run(metadata, maySee);
  }

  /** Goes on as long as it may, at least by one step. True: all has been looked up. */
  proceed(mayGoOn: () => boolean): boolean {
    do {
      if (this.#steps.next().done === true) return true;
    } while (mayGoOn());
    return false;
  }

  *#run(metadata: MetadataSnapshot, maySee: (topic: string) => boolean): Iterator<void> {
    for (const [regex, topics] of this.found) {
      const pattern = compiled(regex);
      if (pattern === undefined) continue;
      for (const { name } of metadata.topics()) {
        if (pattern.matches(name) && maySee(name)) topics.add(name);
        yield;
      }
    }
  }
}

/** An expression that cannot be read, from a log of somebody else's perhaps, matches nothing. */
function compiled(regex: string): TopicPattern | undefined {
  try {
    return compileTopicPattern(regex);
  } catch (error) {
    if (!(error instanceof InvalidPatternError)) throw error;
    return undefined;
  }
}
