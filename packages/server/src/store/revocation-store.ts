/** Which devices the authorities have revoked. */
import type { TaskId, UserId } from '@basa/protocol';

/** Up to which number of which life of an authority's log its revocations are known. */
export interface RevocationMark {
  readonly branch: Uint8Array;
  readonly upTo: number;
}

export interface RevocationStore {
  revocationMark(task: TaskId, authority: Uint8Array): Promise<RevocationMark | undefined>;
  /** These devices stay revoked by the authority; whoever was told before stays so as well. */
  addRevocations(task: TaskId, authority: Uint8Array, users: readonly UserId[], mark: RevocationMark): Promise<void>;
  /** How many authorities have revoked it. */
  revokedBy(task: TaskId, user: UserId): Promise<number>;
}
