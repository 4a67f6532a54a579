/** How an acknowledged update can end, and what that is read from. */
import type { LoggedBatches, LoggedBuffers } from '@basa/testkit/processes/authority-log.ts';

/** `expired`, `discarded`: one-shot, in no sum by the word of an authority, or by that of the server alone. */
export type Ending = 'included' | 'excluded' | 'aborted' | 'quarantined' | 'expired' | 'discarded' | 'lost';

/** What the logs and the models say. */
export interface Evidence {
  readonly batches: LoggedBatches;
  /** By version, then by coordinate. */
  readonly counts: readonly Int32Array[];
  readonly versions: LoggedBuffers['versions'];
}

/** What became of one acknowledged update, and what is known of it in words. */
export interface Ended {
  readonly ending: Ending;
  readonly facts: string;
  /** One-shot: why the server left it out. */
  readonly why?: string;
}
