/** The suites that an authority passes on every kind of database, besides those of the one-shot mode. */
import { describe } from 'vitest';
import type { NewHome } from '../homes.ts';
import { testEnrolment } from './enrolment.ts';
import { testFailures } from './failures.ts';
import { testFlow } from './flow.ts';
import { testMemory } from './memory.ts';
import { testRefusals } from './refusals.ts';

const SUITES = { testFlow, testRefusals, testEnrolment, testMemory, testFailures };

export function testAuthority(newHome: NewHome): void {
  for (const [name, test] of Object.entries(SUITES)) describe(name, () => test(newHome));
}
