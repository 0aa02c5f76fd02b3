import { join } from 'node:path';
import { describe } from 'node:test';
import { testGoldenScripts } from '@odradek/testing';
import { GroupScenario } from './group-scenario.fixture.ts';

describe('groups', () => {
  testGoldenScripts(join(import.meta.dirname, 'testdata'), () => GroupScenario.open());
});
