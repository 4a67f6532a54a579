/** Begins with the test files that take longest, so that no core waits for the last of them. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'packages/cli/test/demo',
  'packages/cli/test/own-model',
  'test/services/conformance',
  'lab/test/readings/readings',
  'packages/cli/test/operator',
  'lab/test/proofs/one-shot',
  'test/browser/join',
  'test/browser/pages',
  'lab/test/python',
  'packages/server/test/shots/faults',
  'test/browser/one-shot',
  'test/commands',
  'lab/test/proofs/mutants',
  'test/services/processes',
  'test/services/successor',
  'test/services/statistics',
  'packages/client/test/run',
  'packages/client/test/one-shot',
  'packages/server/test/store/postgres',
  'packages/client/test/private-tasks',
  'packages/authority/test/units',
  'test/outside',
  'packages/learning/test/gradients',
];

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = LONGEST.findIndex((name) => moduleId.includes(name));
      return place < 0 ? LONGEST.length : place;
    };
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b)); // stable: the rest stays in its order
  }
}
