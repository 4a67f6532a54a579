/** The last device of a buffer comes, and the sum opens: with the client's update in it once, to the last entry. */
import type { Report } from '../report.ts';
import { ITSELF, type Scene } from './client-trial.ts';

export async function noteSum(scene: Scene, report: Report, name: string, where: string): Promise<void> {
  await scene.peer(2);
  const problem = await scene.sumProblem([0, ITSELF, 2]);
  report.note(name, problem === undefined, {
    expected: `the sum of three updates, clipped, each once (${where})`,
    seen: problem ?? 'it',
  });
}
