/** The engines that a trial can run with, each as lines of a policy. */
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol';

const TRIAL_ENGINES = ['slot-keys', 'cp-abe', 'one-shot'] as const;
export type TrialEngine = (typeof TRIAL_ENGINES)[number];

/** What a program says to another name. */
export const WRONG_ENGINE: string = `--engine takes one of these: ${TRIAL_ENGINES.join(', ')}`;

/** Epochs roll and end during a run, and a standing is soon too old to be handed out. */
const SHORT_TIMES = { epochMs: 20_000, voteMs: 15_000, freshMs: 10_000 };

export function isTrialEngine(name: string): name is TrialEngine {
  return TRIAL_ENGINES.some((engine) => engine === name);
}

/** Of several authorities one may collude with the server. */
export function engineLines(engine: TrialEngine = 'slot-keys', authorities = 1): Partial<TaskPolicy> {
  if (engine !== 'one-shot') return { engine: engine === 'cp-abe' ? ENGINE.cpAbe : ENGINE.slotKeys };
  const tolerated = authorities > 1 ? 1 : 0;
  return { engine: ENGINE.oneShot, oneShot: { ...ONE_SHOT_DEFAULTS, ...SHORT_TIMES, tolerated } };
}
