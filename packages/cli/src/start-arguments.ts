// The arguments of `odradek start`, which are those of kafka-server-start: a file of properties and `--override key=value`, any
// number of times. Both are optional.

export interface StartArguments {
  readonly file: string | undefined;
  /** As written, in order. */
  readonly overrides: readonly string[];
}

/** undefined: there is something else in them (`--help`, a mistake), which the full command line deals with. */
export function parseStartArguments(args: readonly string[]): StartArguments | undefined {
  let file: string | undefined;
  const overrides: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const argument = args[i] as string;
    if (argument === '--override') {
      const value = args[i + 1];
      if (value === undefined || value.startsWith('--')) return undefined;
      overrides.push(value);
      i += 1;
    } else if (argument.startsWith('--override=')) {
      overrides.push(argument.slice('--override='.length));
    } else if (argument.startsWith('-') || file !== undefined) {
      return undefined;
    } else {
      file = argument;
    }
  }
  return { file, overrides };
}
