// Runs the golden scripts in testdata: prose, commands, a line of dashes, and the whole outcome, up to an empty line. With
// ODRADEK_REWRITE=1 the outcomes are written anew, to be reviewed like code.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { ControllerScenario } from './controller-scenario.fixture.ts';

interface Step {
  readonly prose: string[];
  readonly commands: string[];
  readonly outcome: string;
}

function parse(text: string): Step[] {
  return text
    .trim()
    .split(/\n\n(?=#|\n)/)
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

const directory = join(import.meta.dirname, 'testdata');

describe('the controller', () => {
  for (const name of readdirSync(directory)) {
    it(name.replace('.txt', '').replaceAll('-', ' '), async () => {
      const path = join(directory, name);
      const expected = parse(readFileSync(path, 'utf8'));
      const scenario = await ControllerScenario.open();
      const actual: Step[] = [];
      for (const step of expected) actual.push({ ...step, outcome: await scenario.run(step.commands) });
      await scenario.close();
      if (process.env['ODRADEK_REWRITE'] === '1') writeFileSync(path, print(actual));
      else assert.equal(print(actual), print(expected));
    });
  }
});
