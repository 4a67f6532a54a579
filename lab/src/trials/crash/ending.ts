/** The possible ends of an acknowledged update, and their sources. */
import type { LoggedBatches } from '@basa/testkit/processes/authority-log.ts';

/** `expired` and `discarded`: in no sum, according to an authority, or only according to the server. */
export type Ending = 'included' | 'quarantined' | 'expired' | 'discarded' | 'lost';

/** The evidence of the logs and the models. */
export interface Evidence {
  readonly batches: LoggedBatches;
  /** By version, then by coordinate. */
  readonly counts: readonly Int32Array[];
  readonly versions: ReadonlyMap<string, number>;
}

/** The end of one acknowledged update, with a description. */
export interface Ended {
  readonly ending: Ending;
  readonly facts: string;
  /** The reason why the server left it out. */
  readonly why?: string;
}
