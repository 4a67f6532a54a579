/** The two modes of tasks, and statistics: this is the only place that chooses. */
import type { TaskAdmission } from '../admission/task-admission.ts';
import { membersOf } from '../authority/authorities.ts';
import type { TaskContext } from '../shots/context.ts';
import { ShotTask } from '../shots/shot-task.ts';
import { WindowEnds, WindowResults } from '../statistics/windows.ts';
import { Closer, Repeats } from './closer.ts';
import { PaperTask } from './paper-task.ts';
import { VersionMaker } from './version-maker.ts';

export interface TaskMode {
  /** Set in paper mode. */
  readonly paper?: PaperTask;
  /** Set in one-shot mode. */
  readonly shots?: ShotTask;
  readonly closer?: Closer;
  /** Set in a statistics task. */
  readonly statistics?: WindowResults | undefined;
  /** Set in a one-shot task that trains a model. */
  readonly repeats?: Repeats | undefined;
}

export function modeOf(context: TaskContext, admission: TaskAdmission): TaskMode {
  const { read, policy, clock, links } = context;
  if (read.mode === 'paper') return { paper: new PaperTask(context) };
  const { oneShot, statistics } = policy;
  if (oneShot === undefined) throw new RangeError('the policy has the engine of the one-shot mode, and not its lines');
  const ends = statistics && new WindowEnds(statistics, clock);
  const shots = new ShotTask({
    ...context,
    policy: { ...policy, oneShot },
    authorities: membersOf(links, policy),
    coming: ends ?? admission,
    // The batches of a window that goes on are full, or the time to vote for them runs out.
    stallMs: (ends === undefined ? read.specification.stallMs : undefined) ?? Number.POSITIVE_INFINITY,
  });
  const results = ends && statistics && new WindowResults(context, statistics, ends);
  return {
    shots,
    closer: new Closer(shots.context, results ?? new VersionMaker(shots.context)),
    statistics: results,
    repeats: results === undefined ? new Repeats(shots.context) : undefined,
  };
}
