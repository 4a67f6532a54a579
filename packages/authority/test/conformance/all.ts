/** All suites together. */
import { describe } from 'vitest';
import type { NewHome } from '../homes.ts';
import { testEnrolment } from './enrolment.ts';
import { testFailures } from './failures.ts';
import { testFlow } from './flow.ts';
import { testPaper } from './paper.ts';
import { testRefusals } from './refusals.ts';
import { testShots } from './shots.ts';

const SUITES = { testFlow, testShots, testRefusals, testEnrolment, testFailures, testPaper };

export function testAuthority(newHome: NewHome): void {
  for (const [name, test] of Object.entries(SUITES)) describe(name, () => test(newHome));
}
