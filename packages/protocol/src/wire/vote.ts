/** The vote of an authority for a sum. */
import type { Ctx, TaskId } from './brands.ts';
import { type Endorsed, type EndorsedCodec, endorsedMessage } from './council.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';

/** The authority votes for this close and, in this buffer, for no other. */
export interface VoteBody {
  readonly task: TaskId;
  readonly ctx: Ctx;
  readonly closing: Uint8Array;
}
export type Vote = VoteBody & Endorsed;

export const voteCodec: EndorsedCodec<VoteBody> = endorsedMessage(KIND.vote, 'vote', {
  task: field.task,
  ctx: field.ctx,
  closing: field.hash,
});
