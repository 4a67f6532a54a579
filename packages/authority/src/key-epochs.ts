/**
 * Key epochs: one master key for each task and epoch, sealed in the database and unlocked in the memory of every node. When
 * its epoch is over and its last buffer has ended, it is destroyed.
 */
import type { Group, WipeableIssuer } from '@basa/abe';
import type { AttributeKeyIssuer, RandomBytes } from '@basa/masking';
import { equalBytes, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { StartError } from '@basa/service';
import { masterKeysOf } from './engines.ts';
import type { AuthorityTables, StoredEpoch } from './tables.ts';
import type { Vault } from './vault.ts';

/** The key of `paper` mode, whose buffers the authority does not know: it is kept as long as the task. */
export const PAPER_EPOCH = -1;

interface Unlocked {
  readonly stored: StoredEpoch;
  readonly issuer: WipeableIssuer;
}

export interface KeyEpochTools {
  readonly vault: Vault;
  readonly group: Group;
  readonly randomBytes: RandomBytes;
  /** Told how long the key of an attribute took. */
  onKey?(seconds: number): void;
}

export class KeyEpochs {
  readonly #tools: KeyEpochTools;
  /** By the hexadecimal of the public key. */
  readonly #unlocked = new Map<string, Unlocked>();
  /** Made here and in no database yet, sealed, by task and epoch: what is asked for in vain makes no second one. */
  readonly #made = new Map<string, StoredEpoch>();
  #isBehind = true;

  constructor(tools: KeyEpochTools) {
    this.#tools = tools;
  }

  issuerFor(sealingKey: Uint8Array): AttributeKeyIssuer | undefined {
    return this.#unlocked.get(toHex(sealingKey))?.issuer;
  }

  /** A key with this name is in the database: it is unlocked with the next look. */
  expect(sealingKey: Uint8Array): void {
    if (!this.#unlocked.has(toHex(sealingKey))) this.#isBehind = true;
  }

  /** Everything in the database is unlocked, and what is not there any more is wiped: made or destroyed by any node. */
  async follow(tables: AuthorityTables): Promise<void> {
    if (!this.#isBehind) return;
    const stored = await tables.epochs();
    this.#wipeAllBut(new Set(stored.map(({ publicKey }) => toHex(publicKey))));
    for (const epoch of stored) {
      const name = toHex(epoch.publicKey);
      if (!this.#unlocked.has(name))
        this.#unlocked.set(name, { stored: epoch, issuer: this.#timed(this.#issuerOf(epoch)) });
    }
    this.#isBehind = false;
  }

  /** While the log is locked: the key of a task and epoch, made if there is none; it is in the database after `store`. */
  async of(tables: AuthorityTables, task: TaskId, engine: number, epoch: number): Promise<StoredEpoch> {
    const stored = await tables.epoch(task, epoch);
    const name = `${toHex(task)} ${epoch}`;
    const known = stored ?? this.#made.get(name) ?? this.#make(task, engine, epoch);
    if (stored === undefined) this.#made.set(name, known);
    else this.#made.delete(name);
    this.expect(known.publicKey);
    return known;
  }

  /** After `of`, in the same transaction. */
  async store(tables: AuthorityTables, epoch: StoredEpoch): Promise<void> {
    if (this.#made.has(`${toHex(epoch.task)} ${epoch.epoch}`)) await tables.addEpoch(epoch);
  }

  /** While the log is locked: destroys the keys of epochs before `current` that `isOver` says no buffer needs. */
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
    for (const [name, { issuer }] of this.#unlocked) {
      if (kept.has(name)) continue;
      issuer.wipe();
      this.#unlocked.delete(name);
    }
  }

  #make(task: TaskId, engine: number, epoch: number): StoredEpoch {
    const { vault, group, randomBytes } = this.#tools;
    const engineKeys = masterKeysOf(engine);
    if (engineKeys === undefined) throw new Error(`no master keys for engine ${engine}`);
    const masterKey = engineKeys.make(group, randomBytes);
    const issuer = engineKeys.issuer(group, masterKey);
    const { publicKey } = issuer;
    issuer.wipe();
    const sealed = vault.seal(masterKeyName({ task, epoch, engine, publicKey }), masterKey);
    masterKey.fill(0);
    return { task, epoch, engine, publicKey, sealed };
  }

  #timed(issuer: WipeableIssuer): WipeableIssuer {
    return {
      ...issuer,
      issue: (attribute) => {
        const start = performance.now();
        const key = issuer.issue(attribute);
        this.#tools.onKey?.((performance.now() - start) / 1000);
        return key;
      },
    };
  }

  #issuerOf(stored: StoredEpoch): WipeableIssuer {
    const { vault, group } = this.#tools;
    const masterKey = vault.open(masterKeyName(stored), stored.sealed);
    const issuer = masterKey === undefined ? undefined : masterKeysOf(stored.engine)?.issuer(group, masterKey);
    masterKey?.fill(0);
    if (issuer === undefined || !equalBytes(issuer.publicKey, stored.publicKey)) {
      const sentence = `the master key of epoch ${stored.epoch} of task ${toHex(stored.task)} is damaged`;
      throw new StartError('dataFolder', `${sentence}; nothing was changed: restore the newest backup`);
    }
    return issuer;
  }
}

/** Binds a sealed master key to all that is stored beside it. */
export function masterKeyName({ task, epoch, engine, publicKey }: Omit<StoredEpoch, 'sealed'>): string {
  return `master key ${toHex(task)} ${epoch} ${engine} ${toHex(publicKey).slice(0, 64)}`;
}
