/** A batch at an authority, as the records under its name give it. */
import type { AuthorityRecord, BatchList } from '../records.ts';

export interface AuthorityBatch {
  readonly list: BatchList;
  /** True if this authority voted for it, before or without knowing that it is final. */
  readonly isVoted: boolean;
  readonly isFinal: boolean;
}

/** Undefined if there is no batch among the records. Of two that hold one upload, the final one counts. */
export function batchOf(records: readonly AuthorityRecord[]): AuthorityBatch | undefined {
  const voted = records.find((entry) => entry.kind === 'batch-voted');
  const final = records.find((entry) => entry.kind === 'batch-final');
  const list = final?.list ?? voted?.list;
  return list && { list, isVoted: voted !== undefined, isFinal: final !== undefined };
}
