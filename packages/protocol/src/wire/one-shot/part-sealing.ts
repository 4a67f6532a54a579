/** Seals the seed of a part to the epoch keys of its holders, and makes its mask. */
import { type MaskTerm, Secret, type SlotBinding, type SlotPart, type Suite } from '@basa/masking';
import type { JoinTag, TaskId, UserId } from '../brands.ts';
import { message } from '../codec.ts';
import { u16 } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { field } from '../named-fields.ts';
import type { Epoch } from './epoch.ts';
import type { Part } from './parts.ts';
import type { HeldPart } from './upload.ts';

/** One upload of one device. */
export interface ShotName {
  readonly task: TaskId;
  readonly joinTag: JoinTag;
  readonly user: UserId;
}

const contextLayout = message<ShotName & { readonly part: Part }>(KIND.partContext, 'partContext', {
  task: field.task,
  joinTag: field.joinTag,
  user: field.user,
  part: u16,
});

/** Context and salt bind task, tag, user and part: a seed that another device copies into its own upload never opens. */
export function partBinding(
  suite: Suite,
  name: ShotName,
  { part, holders }: HeldPart,
  epochs: readonly Epoch[],
): SlotBinding {
  const parts = holders.map((authority): SlotPart => {
    const epoch = epochs.find((one) => one.authority === authority);
    if (epoch === undefined) throw new Error(`the epoch of authority ${authority} is missing`);
    return { authority, publicKey: epoch.key };
  });
  const context = contextLayout.encode({ ...pick(name), part });
  return { parts, threshold: 1, salt: suite.sha256(context), context };
}

/** PRG(s_A): the salt holds the part, so that two parts never share a stream. */
export function partTerm(suite: Suite, name: ShotName, part: Part, seed: Uint8Array, sign: 1 | -1): MaskTerm {
  return { seed: new Secret(seed), sign, salt: contextLayout.hash(suite, { ...pick(name), part }) };
}

function pick({ task, joinTag, user }: ShotName): ShotName {
  return { task, joinTag, user };
}
