/** Named fields that many messages have. */
import type { Ctx, DepositRoot, JoinTag, Millis, Registration, Slot, TaskId, UserId, View } from './brands.ts';
import { ENDORSEMENT_BYTES } from './council.ts';
import { below, type Field, fixed, u53 } from './fields.ts';
import { MAX_SLOTS } from './limits.ts';

/** The size limit for a statement inside another message, except for statements that grow with K or with the sealing key. */
export const STATEMENT_BYTES: number = 512 + ENDORSEMENT_BYTES;

export const field = {
  ctx: fixed<Ctx>(32),
  hash: fixed(32),
  joinTag: fixed<JoinTag>(32),
  millis: u53 as Field<Millis>,
  registration: fixed<Registration>(32),
  root: fixed<DepositRoot>(32),
  slot: below<Slot>(MAX_SLOTS),
  task: fixed<TaskId>(32),
  user: fixed<UserId>(32),
  view: fixed<View>(32),
} as const;
