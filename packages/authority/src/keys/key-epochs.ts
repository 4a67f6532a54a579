/**
 * Key epochs: one master key for each task and epoch, sealed in the database and unlocked in the memory of every node. When
 * its epoch is over and its last buffer has ended, it is destroyed.
 */
import { type AttributeKeyIssuer, equalBytes, type RandomBytes, toHex } from '@basa/masking';
import {
  type AuthorityPorts,
  type BufferIssuer,
  type BufferKeys,
  epochKeyOf,
  type KeySource,
  type TaskId,
} from '@basa/protocol';
import { StartError } from '@basa/service';
import type { AuthorityTables, StoredEpoch } from '../store/tables.ts';
import type { Vault } from '../store/vault.ts';
import { type EpochKeys, type MasterKeys, masterKeysOf } from './engines.ts';
import type { KeyThread } from './key-thread.ts';
import type { KeysAsked, KeysMade } from './work/make-keys.ts';

/** The key of `paper` mode, whose buffers the authority does not know: it is kept as long as the task. */
export const PAPER_EPOCH = -1;

export interface KeyEpochTools {
  readonly vault: Vault;
  readonly randomBytes: RandomBytes;
  readonly thread: KeyThread;
  /** Called with the time that a key took. */
  onKey?(seconds: number): void;
}

export class KeyEpochs {
  readonly #tools: KeyEpochTools;
  /** By the hexadecimal of the public key. */
  readonly #unlocked = new Map<string, EpochKeys & { readonly stored: StoredEpoch }>();
  /** Made here and not in the database yet, sealed, by task and epoch: a request that failed does not make a second one. */
  readonly #made = new Map<string, StoredEpoch>();
  #isBehind = true;

  constructor(tools: KeyEpochTools) {
    this.#tools = tools;
  }

  issuerFor(part: Parameters<AuthorityPorts['issuerFor']>[0]): BufferIssuer | undefined {
    return this.#unlocked.get(toHex(epochKeyOf(part, part)))?.issuer;
  }

  /** For `paper` mode: returns the issuer of the epoch with this public key. */
  attributesOf(publicKey: Uint8Array): AttributeKeyIssuer | undefined {
    return this.#unlocked.get(toHex(publicKey))?.attributes;
  }

  /** Makes the keys of a new buffer, while other requests are answered. */
  async draw(
    epoch: StoredEpoch,
    source: KeySource,
  ): Promise<{ readonly slotKeys: Uint8Array; readonly sealingKey: Uint8Array }> {
    const unlocked = this.#unlocked.get(toHex(epoch.publicKey));
    const keys = unlocked ?? this.#open(epoch, await masterKeysOf(epoch.engine));
    const [slotKeys = new Uint8Array()] = await this.#make(keys, epoch, { kind: 'list', source });
    if (unlocked === undefined) keys.wipe();
    this.#tools.thread.expect(epoch.engine, source);
    return { slotKeys, sealingKey: keys.issuer.sealingKey(slotKeys) };
  }

  /**
   * Returns keys of a buffer that was drawn with this part, while other requests are answered; undefined once its epoch
   * is destroyed.
   */
  async keysOf(part: Parameters<AuthorityPorts['issuerFor']>[0], asked: KeysAsked): Promise<KeysMade | undefined> {
    const keys = this.#unlocked.get(toHex(epochKeyOf(part, part)));
    return keys && this.#make(keys, keys.stored, asked);
  }

  /** A key with this name is in the database: the next look unlocks it. */
  expect(publicKey: Uint8Array): void {
    if (!this.#unlocked.has(toHex(publicKey))) this.#isBehind = true;
  }

  /** Unlocks every key in the database, and wipes keys that are no longer there: any node may have made or destroyed them. */
  async follow(tables: AuthorityTables): Promise<void> {
    if (!this.#isBehind) return;
    const stored = await tables.epochs();
    const engines = await Promise.all(stored.map(({ engine }) => masterKeysOf(engine)));
    this.#wipeAllBut(new Set(stored.map(({ publicKey }) => toHex(publicKey))));
    stored.forEach((epoch, n) => {
      const name = toHex(epoch.publicKey);
      if (this.#unlocked.has(name)) return;
      this.#unlocked.set(name, { ...this.#timed(this.#open(epoch, engines[n])), stored: epoch });
    });
    this.#isBehind = false;
  }

  /**
   * Call this while the log is locked. Returns the key of a task and epoch, and makes it if it is missing. `store` then writes it to the
   * database.
   */
  async of(tables: AuthorityTables, task: TaskId, engine: number, epoch: number): Promise<StoredEpoch> {
    const stored = await tables.epoch(task, epoch);
    const name = `${toHex(task)} ${epoch}`;
    const known = stored ?? this.#made.get(name) ?? (await this.#makeEpoch(task, engine, epoch));
    if (stored === undefined) this.#made.set(name, known);
    else this.#made.delete(name);
    this.expect(known.publicKey);
    return known;
  }

  /** After `of`, in the same transaction. */
  async store(tables: AuthorityTables, epoch: StoredEpoch): Promise<void> {
    if (this.#made.has(`${toHex(epoch.task)} ${epoch.epoch}`)) await tables.addEpoch(epoch);
  }

  /** While the log is locked: destroys the keys of epochs before `current` that no buffer needs according to `isOver`. */
  async destroyOver(
    tables: AuthorityTables,
    current: number,
    isOver: (publicKey: Uint8Array) => boolean,
  ): Promise<number> {
    const over = (await tables.epochs()).filter(
      ({ epoch, publicKey }) => epoch !== PAPER_EPOCH && epoch < current && isOver(publicKey),
    );
    for (const stored of over) await tables.destroyEpoch(stored);
    for (const [name, { epoch }] of this.#made) if (epoch < current) this.#made.delete(name);
    this.#isBehind = true;
    return over.length;
  }

  wipe(): void {
    this.#wipeAllBut(new Set());
  }

  #wipeAllBut(kept: ReadonlySet<string>): void {
    for (const [name, keys] of this.#unlocked) {
      if (kept.has(name)) continue;
      keys.wipe();
      this.#unlocked.delete(name);
    }
  }

  #make(keys: EpochKeys, stored: StoredEpoch, asked: KeysAsked): Promise<KeysMade> {
    return this.#tools.thread.make(keys, { engine: stored.engine, masterKey: () => this.#masterKey(stored) }, asked);
  }

  async #makeEpoch(task: TaskId, engine: number, epoch: number): Promise<StoredEpoch> {
    const { vault, randomBytes } = this.#tools;
    const engineKeys = await masterKeysOf(engine);
    if (engineKeys === undefined) throw new Error(`no master keys for engine ${engine}`);
    const masterKey = engineKeys.make(randomBytes);
    const { issuer, wipe } = engineKeys.open(masterKey);
    const { publicKey } = issuer;
    wipe();
    const sealed = vault.seal(masterKeyName({ task, epoch, engine, publicKey }), masterKey);
    masterKey.fill(0);
    return { task, epoch, engine, publicKey, sealed };
  }

  #timed({ issuer, ...rest }: EpochKeys): EpochKeys {
    const timed = <Key>(make: () => Key): Key => {
      const start = performance.now();
      const key = make();
      this.#tools.onKey?.((performance.now() - start) / 1000);
      return key;
    };
    const keysOf: BufferIssuer['keysOf'] = (buffer): BufferKeys => {
      const keys = issuer.keysOf(buffer);
      return {
        edge: (slot) => timed(() => keys.edge(slot)),
        self: (registration, selfName) => timed(() => keys.self(registration, selfName)),
      };
    };
    return { ...rest, issuer: { ...issuer, keysOf } };
  }

  #open(stored: StoredEpoch, engineKeys: MasterKeys | undefined): EpochKeys {
    const masterKey = this.#masterKey(stored);
    const keys = engineKeys?.open(masterKey);
    masterKey.fill(0);
    if (keys === undefined || !equalBytes(keys.issuer.publicKey, stored.publicKey)) throw damaged(stored);
    return keys;
  }

  /** Returns the master key, which the caller overwrites. */
  #masterKey(stored: StoredEpoch): Uint8Array {
    const masterKey = this.#tools.vault.open(masterKeyName(stored), stored.sealed);
    if (masterKey === undefined) throw damaged(stored);
    return masterKey;
  }
}

function damaged({ epoch, task }: StoredEpoch): StartError {
  const sentence = `the master key of epoch ${epoch} of task ${toHex(task)} is damaged`;
  return new StartError('dataFolder', `${sentence}, and nothing was changed; restore the newest backup`);
}

/** Binds a sealed master key to the other columns of its row. */
export function masterKeyName({ task, epoch, engine, publicKey }: Omit<StoredEpoch, 'sealed'>): string {
  return `master key ${toHex(task)} ${epoch} ${engine} ${toHex(publicKey).slice(0, 64)}`;
}
