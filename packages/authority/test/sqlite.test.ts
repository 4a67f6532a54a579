/** The authority on the database of a data folder. */
import { describe } from 'vitest';
import { testEnrolment } from './conformance/enrolment.ts';
import { testFailures } from './conformance/failures.ts';
import { testFlow } from './conformance/flow.ts';
import { testMemory } from './conformance/memory.ts';
import { testRefusals } from './conformance/refusals.ts';
import { testShots } from './conformance/shots.ts';
import { freshHome } from './homes.ts';

for (const [name, test] of Object.entries({
  testFlow,
  testRefusals,
  testEnrolment,
  testMemory,
  testFailures,
  testShots,
})) {
  describe(name, () => test(async () => freshHome()));
}
