// Golden scripts: files of prose, commands, a line of dashes, and the whole outcome of the commands up to an empty line. A step
// goes on where the one before it ended. With ODRADEK_REWRITE=1 the outcomes are written anew, to be reviewed like code.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';

/** What a script is run on. */
export interface GoldenScenario {
  /** Carries out the commands, and tells all that came of them. */
  run(commands: readonly string[]): Promise<string>;
  close(): void | Promise<void>;
}

interface Step {
  readonly prose: readonly string[];
  readonly commands: readonly string[];
  readonly outcome: string;
}

/** One test for each script in the directory, named after it. */
export function testGoldenScripts(directory: string, open: () => GoldenScenario | Promise<GoldenScenario>): void {
  for (const name of readdirSync(directory).sort()) {
    it(name.replace('.txt', '').replaceAll('-', ' '), async () => {
      const path = join(directory, name);
      const expected = parse(readFileSync(path, 'utf8'));
      const scenario = await open();
      const actual: Step[] = [];
      try {
        for (const step of expected) actual.push({ ...step, outcome: await scenario.run(step.commands) });
      } finally {
        await scenario.close();
      }
      if (process.env['ODRADEK_REWRITE'] === '1') writeFileSync(path, print(actual));
      else assert.equal(print(actual), print(expected));
    });
  }
}

function parse(text: string): Step[] {
  return text
    .trim()
    .split(/\n\n+/)
    .map((part) => {
      const [head = '', outcome = ''] = part.split(/^----\n?/m);
      const lines = head.trim().split('\n');
      return {
        prose: lines.filter((line) => line.startsWith('#')),
        commands: lines.filter((line) => !line.startsWith('#') && line !== ''),
        outcome: outcome.trim(),
      };
    });
}

function print(steps: readonly Step[]): string {
  return `${steps.map(({ prose, commands, outcome }) => [...prose, ...commands, '----', outcome].join('\n')).join('\n\n')}\n`;
}
