/** All suites that an authority passes on every kind of database. */
import { describe } from 'vitest';
import type { NewHome } from '../homes.ts';
import { testEnrolment } from './enrolment.ts';
import { testFailures } from './failures.ts';
import { testFlow } from './flow.ts';
import { testMemory } from './memory.ts';
import { testRefusals } from './refusals.ts';
import { testShots } from './shots.ts';

const SUITES = { testFlow, testRefusals, testEnrolment, testMemory, testFailures, testShots };

export function testAuthority(newHome: NewHome): void {
  for (const [name, test] of Object.entries(SUITES)) describe(name, () => test(newHome));
}
