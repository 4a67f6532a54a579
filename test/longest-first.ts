/** Begins with the test files that take longest, so that no core waits for the last of them. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'cli/test/own-model',
  'cli/test/demo',
  'test/commands',
  'browser/pages',
  'proofs/oracle',
  'cli/test/operator',
  'services/crashes',
  'browser/join',
  'services/contributions',
  'services/tasks',
  'services/conformance',
  'authority/test/folder',
  'proofs/attacks',
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
