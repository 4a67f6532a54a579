/** Seals the seed of a part to the epoch keys of its holders, and makes its mask. */
import {
  type HolderSecret,
  type HybridBinding,
  type HybridHolder,
  type KeySteps,
  type MaskTerm,
  openAsHolder,
  openHybrid,
  Secret,
  type Suite,
  sealToHolders,
  sealToHybrid,
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

/** Context and salt bind task, tag, user and part: a seed that another device copies into its own upload never opens. */
export function partBinding(
  suite: Suite,
  name: ShotName,
  { part, holders }: Pick<HeldPart, 'part' | 'holders'>,
  epochs: readonly Epoch[],
): HybridBinding {
  const keys = holders.map(({ authority, statement }): HybridHolder => {
    const epoch = epochs.find((one) => one.authority === authority);
    if (epoch === undefined) throw new Error(`the epoch of authority ${authority} is missing`);
    return { authority, statement, publicKey: epoch.key, kemKey: epoch.kemKey };
  });
  const context = contextLayout.encode({ ...pick(name), part });
  return { holders: keys, salt: suite.sha256(context), context };
}

interface PartSeed {
  readonly seed: Uint8Array;
  readonly binding: HybridBinding;
}

/** One sealed part for each seed. The keys must have been checked (`isEpochOf`). */
export function sealParts(suite: Suite, sealing: Sealing, seeds: readonly PartSeed[]): KeySteps<readonly Uint8Array[]> {
  return isHybrid(sealing) ? sealToHybrid(suite, seeds) : sealToHolders(suite, seeds);
}

/** With the secret of one holder. Undefined if the part was not sealed to all of its holders for this binding: then it is bad for all of them. */
export function openPart(
  suite: Suite,
  sealing: Sealing,
  { sealed, binding }: { readonly sealed: Uint8Array; readonly binding: HybridBinding },
  holder: number,
  secret: HolderSecret,
): Uint8Array | undefined {
  const place = binding.holders.findIndex(({ authority }) => authority === holder);
  return isHybrid(sealing)
    ? openHybrid(suite, sealed, binding, place, secret)
    : openAsHolder(suite, sealed, binding, place, secret.agreement);
}

/** PRG(s_A): the salt holds the part, so that two parts never share a stream. */
export function partTerm(suite: Suite, name: ShotName, part: Part, seed: Uint8Array, sign: 1 | -1): MaskTerm {
  return { seed: new Secret(seed), sign, salt: contextLayout.hash(suite, { ...pick(name), part }) };
}

function pick({ task, joinTag, user }: ShotName): ShotName {
  return { task, joinTag, user };
}
