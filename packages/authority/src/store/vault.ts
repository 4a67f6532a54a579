/**
 * Encrypts stored secrets. The vault's key comes from a passphrase (scrypt) or a key file. Every secret is sealed with its own key, derived
 * from the vault's key, a fresh salt and the name of the secret, so that secrets cannot be swapped.
 */
import { scryptSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ascii, concatBytes, type RandomBytes, Secret } from '@basa/masking';
import { nodeSuite } from '@basa/runtime/node';
import { StartError } from '@basa/service';

export type VaultSecret = { readonly passphrase: string } | { readonly keyFile: string };

/** The parameters from which the vault's key is derived. They are stored with the sealed secrets. */
export interface VaultParameters {
  readonly kind: 'passphrase' | 'key-file';
  readonly salt: Uint8Array;
  /** scrypt's N, r and p; zero for a key file. */
  readonly cost: number;
  readonly blockSize: number;
  readonly parallel: number;
}

export interface Vault {
  /** `name` is authenticated: it states the purpose of the secret. */
  seal(name: string, secret: Uint8Array): Uint8Array;
  /** Returns undefined if this vault did not seal it under this name. */
  open(name: string, sealed: Uint8Array): Uint8Array | undefined;
  /** Its own key, sealed by another vault (`olderVault`). */
  keyFor(other: Vault): Uint8Array;
  wipe(): void;
}

const KEY_BYTES = 32;
const SALT_BYTES = 32;
const MIN_PASSPHRASE = 12;
/** 128 MiB and about half a second for each guess. */
const SCRYPT = { cost: 2 ** 17, blockSize: 8, parallel: 1 };

export function freshParameters(secret: VaultSecret, randomBytes: RandomBytes): VaultParameters {
  const salt = randomBytes(SALT_BYTES);
  if ('keyFile' in secret) return { kind: 'key-file', salt, cost: 0, blockSize: 0, parallel: 0 };
  if (secret.passphrase.length < MIN_PASSPHRASE) {
    throw new StartError('keys', `the passphrase must have at least ${MIN_PASSPHRASE} characters`);
  }
  return { kind: 'passphrase', salt, ...SCRYPT };
}

export function openVault(secret: VaultSecret, parameters: VaultParameters, randomBytes: RandomBytes): Vault {
  return vaultOf(new Secret(vaultKey(secret, parameters)), randomBytes);
}

/** The name under which a vault seals the key of an older one, which stays until the units that it sealed have ended. */
const OLDER_KEY = 'older key';

/** Undefined if `vault` did not seal it. */
export function olderVault(vault: Vault, sealed: Uint8Array, randomBytes: RandomBytes): Vault | undefined {
  const key = vault.open(OLDER_KEY, sealed);
  return key && vaultOf(new Secret(key), randomBytes);
}

function vaultOf(key: Secret, randomBytes: RandomBytes): Vault {
  const aead = (name: string, salt: Uint8Array) => {
    const info = ascii(`basa-authority-v1 ${name}`);
    const sealingKey = nodeSuite.hkdf({ secret: key.reveal(), salt, info, length: KEY_BYTES });
    // The key seals only once, because its salt is fresh.
    return { key: sealingKey, nonce: new Uint8Array(12), associatedData: info };
  };
  return {
    seal(name, plaintext) {
      const salt = randomBytes(SALT_BYTES);
      const input = aead(name, salt);
      const sealed = concatBytes(salt, nodeSuite.seal({ ...input, plaintext }));
      input.key.fill(0);
      return sealed;
    },
    open(name, sealed) {
      const input = aead(name, sealed.subarray(0, SALT_BYTES));
      const opened = nodeSuite.open({ ...input, ciphertext: sealed.subarray(SALT_BYTES) });
      input.key.fill(0);
      return opened;
    },
    keyFor: (other) => other.seal(OLDER_KEY, key.reveal()),
    wipe: () => key.wipe(),
  };
}

function vaultKey(secret: VaultSecret, parameters: VaultParameters): Uint8Array {
  const { kind, salt, cost, blockSize, parallel } = parameters;
  if ('keyFile' in secret) {
    if (kind !== 'key-file')
      throw new StartError('keys', 'the keys are encrypted with a passphrase; set passphrase instead of keyFile');
    const bytes = readKeyFile(secret.keyFile);
    const key = nodeSuite.hkdf({ secret: bytes, salt, info: ascii('basa-authority-v1 vault'), length: KEY_BYTES });
    bytes.fill(0);
    return key;
  }
  if (kind !== 'passphrase')
    throw new StartError('keys', 'the keys are encrypted with a key file; set keyFile instead of passphrase');
  const limits = { N: cost, r: blockSize, p: parallel, maxmem: 256 * cost * blockSize };
  return new Uint8Array(scryptSync(secret.passphrase.normalize('NFC'), salt, KEY_BYTES, limits));
}

function readKeyFile(path: string): Uint8Array {
  let bytes: Uint8Array;
  try {
    bytes = new Uint8Array(readFileSync(path));
  } catch (error) {
    throw new StartError('keys', `the key file cannot be read: ${(error as Error).message}`);
  }
  if (bytes.length !== KEY_BYTES) {
    throw new StartError(
      'keys',
      `the key file ${path} must contain exactly ${KEY_BYTES} random bytes, but has ${bytes.length}`,
    );
  }
  return bytes;
}
