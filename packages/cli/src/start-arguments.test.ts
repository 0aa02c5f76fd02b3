import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStartArguments, type StartArguments } from './start-arguments.ts';

const cases: { name: string; args: string[]; expected: StartArguments | undefined }[] = [
  { name: 'nothing at all', args: [], expected: { file: undefined, overrides: [] } },
  { name: 'a file', args: ['server.properties'], expected: { file: 'server.properties', overrides: [] } },
  {
    name: 'overrides in both forms, before and after the file',
    args: ['--override', 'a=1', 'server.properties', '--override=b=2=3'],
    expected: { file: 'server.properties', overrides: ['a=1', 'b=2=3'] },
  },
  { name: 'an override without a value', args: ['--override'], expected: undefined },
  { name: 'an override followed by an option', args: ['--override', '--help'], expected: undefined },
  { name: 'two files', args: ['a', 'b'], expected: undefined },
  { name: 'another option', args: ['--help'], expected: undefined },
];

for (const { name, args, expected } of cases) {
  test(`start arguments: ${name}`, () => assert.deepEqual(parseStartArguments(args), expected));
}
