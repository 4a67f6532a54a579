/** Seals the seed of a part to the epoch keys of its holders, and makes its mask. */
import {
  type HolderSecret,
  type HybridPart,
  type KeySteps,
  keysAtOnce,
  type MaskTerm,
  openHybrid,
  openWithSlotKeys,
  Secret,
  type SlotBinding,
  type Suite,
  sealToHybrid,
  sealToSlots,
} from '@basa/masking';
import type { JoinTag, TaskId, UserId } from '../brands.ts';
import { message } from '../codec.ts';
import { u16 } from '../fields.ts';
import { KIND } from '../kinds.ts';
import { field } from '../named-fields.ts';
import type { Epoch } from './epoch.ts';
import type { Part } from './parts.ts';
import { isHybrid, type Sealing } from './sealings.ts';
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

/** The context to which the sealed seed of a part is bound. */
export interface PartBinding extends SlotBinding {
  readonly parts: readonly HybridPart[];
}

/** Context and salt bind task, tag, user and part: a seed that another device copies into its own upload never opens. */
export function partBinding(
  suite: Suite,
  name: ShotName,
  { part, holders }: Pick<HeldPart, 'part' | 'holders'>,
  epochs: readonly Epoch[],
): PartBinding {
  const parts = holders.map(({ authority, statement }): HybridPart => {
    const epoch = epochs.find((one) => one.authority === authority);
    if (epoch === undefined) throw new Error(`the epoch of authority ${authority} is missing`);
    return { authority, statement, publicKey: epoch.key, kemKey: epoch.kemKey };
  });
  const context = contextLayout.encode({ ...pick(name), part });
  return { parts, threshold: 1, salt: suite.sha256(context), context };
}

interface PartSeed {
  readonly seed: Uint8Array;
  readonly binding: PartBinding;
}

/** One sealed part for each seed. The keys must have been checked (`isEpochOf`). */
export function sealParts(suite: Suite, sealing: Sealing, seeds: readonly PartSeed[]): KeySteps<readonly Uint8Array[]> {
  return isHybrid(sealing) ? sealToHybrid(suite, seeds) : sealToSlots(suite, seeds);
}

/** With the secret of one holder. Undefined if the part was not sealed to all of its holders for this binding: then it is bad for all of them. */
export function openPart(
  suite: Suite,
  sealing: Sealing,
  { sealed, binding }: { readonly sealed: Uint8Array; readonly binding: PartBinding },
  holder: number,
  secret: HolderSecret,
): Uint8Array | undefined {
  const place = binding.parts.findIndex(({ authority }) => authority === holder);
  if (isHybrid(sealing)) return openHybrid(suite, sealed, binding, place, secret);
  const secrets = binding.parts.map((_, n) => (n === place ? secret.agreement : undefined));
  return keysAtOnce(suite, openWithSlotKeys(suite, binding, secrets, [{ sealed, binding }]))?.[0];
}

/** PRG(s_A): the salt holds the part, so that two parts never share a stream. */
export function partTerm(suite: Suite, name: ShotName, part: Part, seed: Uint8Array, sign: 1 | -1): MaskTerm {
  return { seed: new Secret(seed), sign, salt: contextLayout.hash(suite, { ...pick(name), part }) };
}

function pick({ task, joinTag, user }: ShotName): ShotName {
  return { task, joinTag, user };
}
