/**
 * Key epochs: one master key for each task and epoch, sealed on disk and unlocked in memory. When its epoch is over and its
 * last buffer has ended, it is destroyed.
 */
import type { Group, WipeableIssuer } from '@basa/abe';
import type { AttributeKeyIssuer, RandomBytes } from '@basa/masking';
import { equalBytes, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { StartError } from '@basa/service';
import { masterKeysOf } from './engines.ts';
import type { AuthorityStore, StoredEpoch } from './store.ts';
import type { Vault } from './vault.ts';

/** The key of `paper` mode, whose buffers the authority does not know: it is kept as long as the task. */
export const PAPER_EPOCH = -1;

interface Unlocked {
  readonly stored: StoredEpoch;
  readonly issuer: WipeableIssuer;
  isDurable: boolean;
}

export interface KeyEpochTools {
  readonly store: AuthorityStore;
  readonly vault: Vault;
  readonly group: Group;
  readonly randomBytes: RandomBytes;
}

export class KeyEpochs {
  readonly #tools: KeyEpochTools;
  /** By the hexadecimal of the public key. */
  readonly #unlocked = new Map<string, Unlocked>();

  /** Unlocks every epoch that is on disk. */
  constructor(tools: KeyEpochTools) {
    this.#tools = tools;
    for (const stored of tools.store.epochs()) this.#keep(stored, this.#issuerOf(stored), true);
  }

  issuerFor(sealingKey: Uint8Array): AttributeKeyIssuer | undefined {
    return this.#unlocked.get(toHex(sealingKey))?.issuer;
  }

  /** The key of a task and epoch, made if there is none; it is on disk only after `keep` in a transaction. */
  publicKeyOf(task: TaskId, engine: number, epoch: number): Uint8Array {
    const known = [...this.#unlocked.values()].find(
      ({ stored }) => stored.epoch === epoch && equalBytes(stored.task, task),
    );
    return known?.stored.publicKey ?? this.#make(task, engine, epoch);
  }

  /** Inside a transaction: writes the sealed key, if it is not on disk yet. */
  store(publicKey: Uint8Array): void {
    const unlocked = this.#unlocked.get(toHex(publicKey));
    if (unlocked === undefined || unlocked.isDurable) return;
    this.#tools.store.addEpoch(unlocked.stored);
  }

  /** The transaction was durable. */
  confirm(publicKey: Uint8Array): void {
    const unlocked = this.#unlocked.get(toHex(publicKey));
    if (unlocked !== undefined) unlocked.isDurable = true;
  }

  /** Destroys the keys of epochs before `current` for which `isOver` says that no buffer needs them. */
  destroyOver(current: number, isOver: (publicKey: Uint8Array) => boolean): number {
    const over = [...this.#unlocked].filter(
      ([, { stored }]) => stored.epoch !== PAPER_EPOCH && stored.epoch < current && isOver(stored.publicKey),
    );
    for (const [name, { stored, issuer }] of over) {
      this.#tools.store.destroyEpoch(stored.task, stored.epoch);
      issuer.wipe();
      this.#unlocked.delete(name);
    }
    return over.length;
  }

  wipe(): void {
    for (const { issuer } of this.#unlocked.values()) issuer.wipe();
    this.#unlocked.clear();
  }

  #make(task: TaskId, engine: number, epoch: number): Uint8Array {
    const { vault, group, randomBytes } = this.#tools;
    const engineKeys = masterKeysOf(engine);
    if (engineKeys === undefined) throw new Error(`no master keys for engine ${engine}`);
    const masterKey = engineKeys.make(group, randomBytes);
    const issuer = engineKeys.issuer(group, masterKey);
    const { publicKey } = issuer;
    const sealed = vault.seal(nameOf({ task, epoch, engine, publicKey }), masterKey);
    masterKey.fill(0);
    this.#keep({ task, epoch, engine, publicKey, sealed }, issuer, false);
    return publicKey;
  }

  #issuerOf(stored: StoredEpoch): WipeableIssuer {
    const { vault, group } = this.#tools;
    const masterKey = vault.open(nameOf(stored), stored.sealed);
    const issuer = masterKey === undefined ? undefined : masterKeysOf(stored.engine)?.issuer(group, masterKey);
    masterKey?.fill(0);
    if (issuer === undefined || !equalBytes(issuer.publicKey, stored.publicKey)) {
      const sentence = `the master key of epoch ${stored.epoch} of task ${toHex(stored.task)} is damaged`;
      throw new StartError('dataFolder', `${sentence}; nothing was changed: restore the newest backup of the folder`);
    }
    return issuer;
  }

  #keep(stored: StoredEpoch, issuer: WipeableIssuer, isDurable: boolean): void {
    this.#unlocked.set(toHex(stored.publicKey), { stored, issuer, isDurable });
  }
}

/** Binds a sealed master key to all that is stored beside it. */
function nameOf({ task, epoch, engine, publicKey }: Omit<StoredEpoch, 'sealed'>): string {
  return `master key ${toHex(task)} ${epoch} ${engine} ${toHex(publicKey).slice(0, 64)}`;
}
