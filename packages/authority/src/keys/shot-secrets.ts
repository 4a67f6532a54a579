/**
 * The epoch secrets of the one-shot mode: one key pair for each task and epoch. They are sealed in the database, and
 * unlocked in memory. Backups do not contain them. When the record that ends an epoch is durable, its secret is destroyed.
 */
import { equalBytes, type HolderSecret, type RandomBytes, Secret, type Suite, toHex } from '@basa/masking';
import {
  agreementKeyOf,
  type Epoch,
  type EpochKeys,
  epochKeysOf,
  epochSecretOf,
  type LiveEpoch,
  type Sealing,
  type TaskId,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityTables, StoredShotSecret } from '../store/tables.ts';
import type { Vault } from '../store/vault.ts';

const suite: Suite = withKem(nodeSuite);

export interface ShotSecretTools {
  readonly vault: Vault;
  readonly randomBytes: RandomBytes;
}

/** The secret of an epoch, and the keys that open parts. Keys are expanded once, at the first request. */
interface Unlocked {
  readonly secret: Secret;
  agreement?: Secret;
  decapsulation?: Secret | undefined;
}

export class ShotSecrets {
  readonly #tools: ShotSecretTools;
  /** By the hexadecimal of the public key. */
  readonly #unlocked = new Map<string, Unlocked>();
  #isBehind = true;

  constructor(tools: ShotSecretTools) {
    this.#tools = tools;
  }

  /** Makes the keys of an epoch, while the log is locked: it is durable together with the record of the statement, and nothing leaves before. */
  async make(tables: AuthorityTables, task: TaskId, sealing: Sealing): Promise<EpochKeys> {
    const { vault, randomBytes } = this.#tools;
    const secret = randomBytes(32);
    const keys = epochKeysOf(suite, sealing, secret);
    const { key: publicKey } = keys;
    await tables.addShotSecret({ task, publicKey, sealed: vault.seal(shotSecretName({ task, publicKey }), secret) });
    secret.fill(0);
    return keys;
  }

  /** An epoch was opened or has ended: the next look updates the memory. */
  expectChange(): void {
    this.#isBehind = true;
  }

  /** Unlocks every secret in the database, and wipes secrets that are no longer there. */
  async follow(tables: AuthorityTables): Promise<void> {
    if (!this.#isBehind) return;
    const stored = await tables.shotSecrets();
    this.#wipeAllBut(new Set(stored.map(({ publicKey }) => toHex(publicKey))));
    for (const one of stored) this.#unlock(one);
    this.#isBehind = false;
  }

  hasAll(epochs: readonly LiveEpoch[]): boolean {
    return epochs.every(({ epoch }) => this.#unlocked.has(toHex(epoch.key)));
  }

  /** Returns a copy, which the caller overwrites; undefined once it is destroyed. */
  copyOf(publicKey: Uint8Array): Uint8Array | undefined {
    return this.#unlocked.get(toHex(publicKey))?.secret.reveal().slice();
  }

  /** A copy of what opens the parts that are sealed to the epoch, which the caller overwrites. */
  openingOf({ key, kemKey }: Epoch): HolderSecret | undefined {
    const unlocked = this.#unlocked.get(toHex(key));
    if (unlocked === undefined) return undefined;
    if (unlocked.agreement === undefined) {
      const sealing = kemKey === undefined ? 'x25519' : 'x25519+mlkem768';
      const { agreement, decapsulation } = epochSecretOf(suite, sealing, unlocked.secret.reveal());
      unlocked.agreement = new Secret(agreement);
      unlocked.decapsulation = decapsulation && new Secret(decapsulation);
    }
    return {
      agreement: unlocked.agreement.reveal().slice(),
      decapsulation: unlocked.decapsulation?.reveal().slice(),
    };
  }

  /** While the log is locked: destroys the secrets of all epochs except the live ones. Returns the number of destroyed secrets. */
  async destroyAllBut(tables: AuthorityTables, live: readonly LiveEpoch[]): Promise<number> {
    const kept = new Set(live.map(({ epoch }) => toHex(epoch.key)));
    const over = (await tables.shotSecrets()).filter(({ publicKey }) => !kept.has(toHex(publicKey)));
    for (const one of over) await tables.destroyShotSecret(one);
    if (over.length > 0) this.expectChange();
    return over.length;
  }

  wipe(): void {
    this.#wipeAllBut(new Set());
  }

  /** A secret that does not open is treated as missing. */
  #unlock({ task, publicKey, sealed }: StoredShotSecret): void {
    if (this.#unlocked.has(toHex(publicKey))) return;
    const secret = this.#tools.vault.open(shotSecretName({ task, publicKey }), sealed);
    if (secret === undefined) return;
    if (equalBytes(agreementKeyOf(suite, secret), publicKey))
      this.#unlocked.set(toHex(publicKey), { secret: new Secret(secret) });
  }

  #wipeAllBut(kept: ReadonlySet<string>): void {
    for (const [name, { secret, agreement, decapsulation }] of this.#unlocked) {
      if (kept.has(name)) continue;
      for (const one of [secret, agreement, decapsulation]) one?.wipe();
      this.#unlocked.delete(name);
    }
  }
}

/** Binds a sealed secret to the other columns of its row. */
export function shotSecretName({ task, publicKey }: Omit<StoredShotSecret, 'sealed'>): string {
  return `epoch secret ${toHex(task)} ${toHex(publicKey)}`;
}
