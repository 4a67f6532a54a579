/** Checks that a client ends well, and that the sum opens when the last device of its buffer comes: with its update in it once, to the last entry. */
import type { Report } from '../report.ts';
import { ITSELF, type Scene } from './client-trial.ts';

/** Runs the client to its end. Returns whether it contributed. */
export async function noteRun(scene: Scene, report: Report, name: string, expected: string): Promise<boolean> {
  const { code, output } = await scene.run();
  report.note(name, code === 0, { expected, seen: `code ${code}: ${output.slice(-200)}` });
  return code === 0;
}

export async function noteSum(scene: Scene, report: Report, name: string, where: string): Promise<void> {
  await scene.peer(2);
  const problem = await scene.sumProblem([0, ITSELF, 2]);
  report.note(name, problem === undefined, {
    expected: `the sum of three updates, clipped, each once (${where})`,
    seen: problem ?? 'it',
  });
}
