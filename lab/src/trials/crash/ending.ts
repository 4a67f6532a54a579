/** The possible ends of an acknowledged update, and their sources. */
import type { TaskPolicy } from '@basa/protocol';
import type { LoggedBatches, LoggedBuffers } from '@basa/testkit/processes/authority-log.ts';
import type { AuthorityName } from '@basa/testkit/processes/test-processes.ts';

/**
 * `unknown`: after a succession, all parties say that the update is in no sum, and its device keeps it as held. `expired` and `discarded`
 * (one-shot): in no sum, according to an authority, or only according to the server.
 */
export type Ending = 'included' | 'excluded' | 'aborted' | 'quarantined' | 'expired' | 'discarded' | 'unknown' | 'lost';

/** The evidence of the logs and the models. */
export interface Evidence {
  readonly batches: LoggedBatches;
  /** By version, then by coordinate. */
  readonly counts: readonly Int32Array[];
  readonly versions: LoggedBuffers['versions'];
}

/** The end of one acknowledged update, with a description. */
export interface Ended {
  readonly ending: Ending;
  readonly facts: string;
  /** One-shot: why the server left it out. */
  readonly why?: string;
}

/** The authorities of an earlier term. */
export interface Retired {
  readonly policy: TaskPolicy;
  readonly names: readonly AuthorityName[];
  readonly logs: readonly Uint8Array[];
}
