/** The lines of a policy with which the trials run the one-shot mode. */
import { ENGINE, ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';

/** Epochs roll and end during a run, and a standing is soon too old to be handed out. */
const ALONE = { tolerated: 0, epochMs: 20_000, freshMs: 10_000 };
/** One may collude with the server. A batch outlives the time for which too few of them are there. */
const SEVERAL = { tolerated: 1, epochMs: 60_000, freshMs: 10_000 };

export interface OneShotSizes {
  /** The number of authorities (1). */
  readonly authorities?: number;
  /** The number of updates of a step (those of one batch). */
  readonly stepUpdates?: number | undefined;
}

export function oneShotLines({
  authorities = 1,
  stepUpdates = 1,
}: OneShotSizes = {}): Pick<TaskPolicy, 'engine' | 'oneShot'> {
  const oneShot = { ...ONE_SHOT_DEFAULTS, ...(authorities === 1 ? ALONE : SEVERAL), stepUpdates };
  return { engine: ENGINE.oneShot, oneShot };
}
