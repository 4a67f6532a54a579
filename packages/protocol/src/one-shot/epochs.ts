/** The epochs of an authority: when the next one opens, the statement of its keys, and when its unit is destroyed. */
import type { Signer } from '@basa/masking';
import { type Millis, millis, type TaskId } from '../wire/brands.ts';
import { indexOf } from '../wire/council.ts';
import { type Epoch, type EpochBody, epochCodec, epochEnd } from '../wire/one-shot/epoch.ts';
import { oneShotOf } from '../wire/one-shot/parts.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import { signStatement } from '../wire/signed.ts';
import type { Unit } from './authority.ts';
import type { EpochKeys } from './epoch-keys.ts';

/** The epoch to which devices seal: the one that closes last. */
export function newestEpoch(units: readonly Unit[]): Epoch | undefined {
  return units.reduce<Epoch | undefined>(
    (newest, { epoch }) => (newest !== undefined && newest.closes >= epoch.closes ? newest : epoch),
    undefined,
  );
}

/** The epochs that uploads may name now. */
export function openEpochs(units: readonly Unit[], now: Millis): readonly Epoch[] {
  return units.flatMap(({ epoch }) => (now < epoch.closes ? [epoch] : []));
}

/** The next epoch opens a quarter of an epoch before the end of the last one. */
export function isEpochDue(policy: TaskPolicy, units: readonly Unit[], now: Millis): boolean {
  const newest = newestEpoch(units);
  return newest === undefined || now >= newest.closes - oneShotOf(policy).epochMs / 4;
}

/** The keys are new. The unit with their secret must be on the disk before the statement leaves. */
export function epochStatement(
  signer: Signer,
  { task, policy }: { readonly task: TaskId; readonly policy: TaskPolicy },
  keys: EpochKeys,
  now: Millis,
): Epoch {
  const body: EpochBody = {
    task,
    authority: indexOf(policy, signer.publicKey) as number,
    ...keys,
    opens: now,
    closes: millis(now + oneShotOf(policy).epochMs),
  };
  return signStatement(epochCodec, signer, body);
}

/** The unit is destroyed. Until then a batch has time to be voted for and released. */
export function isEpochOver(policy: TaskPolicy, epoch: Epoch, now: Millis): boolean {
  return now >= epochEnd(oneShotOf(policy), epoch);
}
