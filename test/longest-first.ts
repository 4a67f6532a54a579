/** Begins with the test files that take longest, so that no core waits for the last of them. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const LONGEST = [
  'services/conformance',
  'cli/test/own-model',
  'browser/one-shot',
  'browser/pages',
  'cli/test/operator',
  'cli/test/demo',
  'browser/join',
  'shots/faults',
  'services/server-key',
  'test/snippets',
  'test/rules/authority.test',
  'authority/test/shots.test',
  'authority/test/units.test',
  'services/several-authorities',
  'services/admission',
  'learning/test/gradients',
  'admission/idle-places',
  'services/lying-authorities',
  'one-shot/restarts',
  'shots/several-sums',
  'timed/golden',
  'proofs/one-shot.test',
  'services/tasks',
  'services/contributions',
  'test/commands',
  'services/crashes',
  'proofs/attacks',
  'services/client',
  'store/store',
  'timed/admission',
  'authority/test/folder',
  'process/run',
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
