/** The epochs of an authority: when the next one opens, the statement of its keys, and when its unit is destroyed. */
import {
  AGREEMENT_KEY_BYTES,
  ascii,
  type HolderSecret,
  KEM_SEED_BYTES,
  type Kem,
  type Signer,
  type Suite,
} from '@basa/masking';
import { signStatement } from '../wire/codec.ts';
import { indexOf } from '../wire/council.ts';
import { type Millis, millis, type TaskId } from '../wire/fields.ts';
import { Epoch, type EpochBody, epochEnd } from '../wire/model.ts';
import { isHybrid, oneShotOf, type Sealing } from '../wire/one-shot-policy.ts';
import type { TaskPolicy } from '../wire/policy.ts';
import type { Unit } from './authority.ts';

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
  return signStatement(Epoch, signer, body);
}

/** The unit is destroyed. Until then a batch has time to be voted for and released. */
export function isEpochOver(policy: TaskPolicy, epoch: Epoch, now: Millis): boolean {
  return now >= epochEnd(oneShotOf(policy), epoch);
}

export type EpochKeys = Pick<EpochBody, 'key' | 'kemKey'>;

export function epochKeysOf(suite: Suite, sealing: Sealing, secret: Uint8Array): EpochKeys {
  const key = agreementKeyOf(suite, secret);
  if (!isHybrid(sealing)) return { key, kemKey: undefined };
  const { publicKey, secretKey } = kemPairOf(suite, secret);
  secretKey.fill(0);
  return { key, kemKey: publicKey };
}

/** Only the X25519 key, which every epoch has. */
export function agreementKeyOf(suite: Suite, secret: Uint8Array): Uint8Array {
  const agreement = derived(suite, secret, 'x25519', AGREEMENT_KEY_BYTES);
  const { publicKey } = suite.x25519(agreement);
  agreement.fill(0);
  return publicKey;
}

/** The secret that opens the parts sealed to these keys. The caller overwrites it. */
export function epochSecretOf(suite: Suite, sealing: Sealing, secret: Uint8Array): HolderSecret {
  const agreement = derived(suite, secret, 'x25519', AGREEMENT_KEY_BYTES);
  return { agreement, decapsulation: isHybrid(sealing) ? kemPairOf(suite, secret).secretKey : undefined };
}

function kemPairOf(suite: Suite, secret: Uint8Array): ReturnType<Kem['keyPair']> {
  if (suite.kem === undefined) throw new Error('ML-KEM was not loaded for a task that seals with it');
  const seed = derived(suite, secret, 'ml-kem-768', KEM_SEED_BYTES);
  const pair = suite.kem.keyPair(seed);
  seed.fill(0);
  return pair;
}

const SALT = ascii('basa epoch keys');

/** Each key has its own branch: a quantum computer that finds the X25519 secret learns nothing about the other key or about the noise. */
function derived(suite: Suite, secret: Uint8Array, label: string, length: number): Uint8Array {
  return suite.hkdf({ secret, salt: SALT, info: ascii(label), length });
}
