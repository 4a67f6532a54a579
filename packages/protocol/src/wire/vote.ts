/** The vote of an authority for a batch. */
import type { Ctx, TaskId } from './brands.ts';
import { type Endorsed, type EndorsedCodec, endorsedMessage } from './council.ts';
import { KIND } from './kinds.ts';
import { field } from './named-fields.ts';

/** The authority votes for this batch, and for no other with an upload of it. */
export interface VoteBody {
  readonly task: TaskId;
  readonly ctx: Ctx;
}
export type Vote = VoteBody & Endorsed;

export const voteCodec: EndorsedCodec<VoteBody> = endorsedMessage(KIND.vote, 'vote', {
  task: field.task,
  ctx: field.ctx,
});
