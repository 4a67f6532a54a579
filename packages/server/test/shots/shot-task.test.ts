/** One look at the uploads of a task: inspected, and put into batches. */
import { afterEach, expect, it, vi } from 'vitest';
import { Batcher } from '../../src/shots/batcher.ts';
import { Inspector, KnownVoters } from '../../src/shots/inspector.ts';
import { ShotTask } from '../../src/shots/shot-task.ts';

afterEach(() => vi.restoreAllMocks());

it('uploads are inspected again for a batch in the same look, and their verdicts count until its end', async () => {
  const steps: string[] = [];
  const answers = { inspector: [true, false, false], batcher: [true, false] };
  const took = (step: keyof typeof answers) => async (): Promise<boolean> => {
    steps.push(step);
    return answers[step].shift() as boolean;
  };
  vi.spyOn(KnownVoters.prototype, 'forgetOld').mockImplementation(() => void steps.push('forget'));
  vi.spyOn(Inspector.prototype, 'look').mockImplementation(took('inspector'));
  vi.spyOn(Batcher.prototype, 'look').mockImplementation(took('batcher'));
  await new ShotTask({ clock: () => 0 } as never).look(undefined as never);
  expect(steps).toEqual(['forget', 'inspector', 'inspector', 'batcher', 'inspector', 'batcher']);
});
