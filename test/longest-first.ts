/** Begins with the test files that take longest, so that no core waits for the last of them. */
import type { TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

const LONGEST = [
  'trials/test/crash',
  'cli/test/demo',
  'postgres/nodes',
  'test/commands',
  'browser/join',
  'browser/pages',
  'services/tasks',
  'services/crashes',
  'cli/test/own-model',
  'cli/test/operator',
  'services/conformance',
  'authority/test/folder',
  'verification/test/oracle',
  'verification/test/explorer',
  'verification/test/attacks',
  'verification/test/mutants',
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
