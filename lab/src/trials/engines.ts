/** The engines that a trial can run with, each as lines of a policy. */
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol';

/** `one-shot-groups`: versions are made of two batches. */
const TRIAL_ENGINES = ['slot-keys', 'cp-abe', 'one-shot', 'one-shot-groups'] as const;
export type TrialEngine = (typeof TRIAL_ENGINES)[number];

/** The error for an unknown name. */
export const WRONG_ENGINE: string = `--engine takes one of these: ${TRIAL_ENGINES.join(', ')}`;

/** Epochs roll and end during a run, and a standing is soon too old to be handed out. */
const ALONE = { tolerated: 0, epochMs: 20_000, voteMs: 15_000, freshMs: 10_000 };
/** One may collude with the server. A batch outlives the time for which too few of them are there. */
const SEVERAL = { tolerated: 1, epochMs: 60_000, voteMs: 45_000, freshMs: 10_000 };

export function isTrialEngine(name: string): name is TrialEngine {
  return TRIAL_ENGINES.some((engine) => engine === name);
}

export function engineLines(engine: TrialEngine = 'slot-keys', authorities = 1): Partial<TaskPolicy> {
  if (engine === 'slot-keys') return { engine: ENGINE.slotKeys };
  if (engine === 'cp-abe') return { engine: ENGINE.cpAbe };
  const sumsPerVersion = engine === 'one-shot-groups' ? 2 : 1;
  const oneShot = { ...ONE_SHOT_DEFAULTS, ...(authorities === 1 ? ALONE : SEVERAL), sumsPerVersion };
  return { engine: ENGINE.oneShot, oneShot };
}
