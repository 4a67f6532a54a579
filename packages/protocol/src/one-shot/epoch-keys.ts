/** The keys of an epoch, all made of one secret of 32 random bytes. */
import { AGREEMENT_KEY_BYTES, ascii, type HolderSecret, KEM_SEED_BYTES, type Kem, type Suite } from '@basa/masking';
import type { EpochBody } from '../wire/one-shot/epoch.ts';
import { isHybrid, type Sealing } from '../wire/one-shot/sealings.ts';

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
