/** The authority on PostgreSQL, as one node. */
import { afterAll, beforeAll, describe } from 'vitest';
import { testEnrolment } from './conformance/enrolment.ts';
import { testFailures } from './conformance/failures.ts';
import { testFlow } from './conformance/flow.ts';
import { testMemory } from './conformance/memory.ts';
import { testPostgres } from './homes.ts';

let postgres: Awaited<ReturnType<typeof testPostgres>>;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres?.remove());

for (const [name, test] of Object.entries({ testFlow, testEnrolment, testMemory, testFailures })) {
  describe(name, () => test(() => postgres.freshHome()));
}
