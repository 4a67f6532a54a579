/** Named fields that many messages have. */
import type { Ctx, JoinTag, Millis, Slot, TaskId, UserId } from './brands.ts';
import { ENDORSEMENT_BYTES } from './council.ts';
import { below, type Field, fixed, u53 } from './fields.ts';
import { MAX_SLOTS } from './limits.ts';

/** The size limit for a statement inside another message. */
export const STATEMENT_BYTES: number = 512 + ENDORSEMENT_BYTES;

export const field = {
  ctx: fixed<Ctx>(32),
  hash: fixed(32),
  joinTag: fixed<JoinTag>(16),
  millis: u53 as Field<Millis>,
  slot: below<Slot>(MAX_SLOTS),
  task: fixed<TaskId>(32),
  user: fixed<UserId>(32),
} as const;
