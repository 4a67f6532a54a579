/** The possible ends of an acknowledged update, and their sources. */
import type { AuditedBatches } from '@basa/testkit/processes/audits.ts';

/** `discarded`: in no sum, with the reason that the server recorded. */
export type Ending = 'included' | 'quarantined' | 'discarded' | 'lost';

/** The evidence of the audit files and the models. */
export interface Evidence {
  readonly final: AuditedBatches;
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
