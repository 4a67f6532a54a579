/** The units of an authority: one file in a folder for each live epoch, and what they hold in memory. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { concatBytes, equalBytes, type HolderSecret, Secret, toHex } from '@basa/masking';
import type { Ctx, TaskId } from '@basa/protocol';
import { type AuthorityRole, Epochs } from '@basa/protocol/one-shot';
import { Epoch } from '@basa/protocol/wire';
import { withKem } from '@basa/runtime/kem';
import { nodeSuite } from '@basa/runtime/node';
import { makePrivateFolder } from '@basa/service/durable-names';
import type { Vault } from '../store/vault.ts';
import { removeUnitFile, UnitFile } from './unit-file.ts';

const suite = withKem(nodeSuite);
const NAME_BYTES = 32;
const KINDS = ['voted', 'final'] as const;
const ENDING = '.unit';

class HeldUnit implements AuthorityRole.Unit {
  readonly epoch: Epoch;
  readonly statement: Uint8Array;
  readonly file: UnitFile;
  readonly secret: Secret;
  /** An earlier vault sealed it. */
  readonly isOlder: boolean;
  #opening: { readonly agreement: Secret; readonly decapsulation: Secret | undefined } | undefined;
  readonly #names = new Map<string, Ctx>();
  readonly #final = new Set<string>();

  constructor(file: UnitFile, epoch: Epoch, secret: Uint8Array, isOlder = false) {
    this.file = file;
    this.epoch = epoch;
    this.statement = Epoch.statementHash(suite, epoch);
    this.secret = new Secret(secret);
    this.isOlder = isOlder;
  }

  readonly ctxOf = (name: Uint8Array): Ctx | undefined => this.#names.get(toHex(name));
  readonly isFinal = (ctx: Ctx): boolean => this.#final.has(toHex(ctx));

  /** It is on the disk. */
  add({ kind, ctx, names }: Omit<AuthorityRole.UnitWrite, 'statement'>): void {
    if (kind === 'final') this.#final.add(toHex(ctx));
    for (const name of names) this.#names.set(toHex(name), ctx);
  }

  /** A copy of what opens the parts that are sealed to the epoch. Keys are expanded once, at the first request. */
  opening(): HolderSecret {
    if (this.#opening === undefined) {
      const sealing = this.epoch.kemKey === undefined ? 'x25519' : 'x25519+mlkem768';
      const { agreement, decapsulation } = Epochs.epochSecretOf(suite, sealing, this.secret.reveal());
      this.#opening = { agreement: new Secret(agreement), decapsulation: decapsulation && new Secret(decapsulation) };
    }
    const { agreement, decapsulation } = this.#opening;
    return { agreement: agreement.reveal().slice(), decapsulation: decapsulation?.reveal().slice() };
  }

  wipe(): void {
    for (const one of [this.secret, this.#opening?.agreement, this.#opening?.decapsulation]) one?.wipe();
  }
}

export interface UnitPlace {
  readonly folder: string;
  readonly vault: Vault;
  /** Vaults of earlier keys, which may have sealed units that still live. */
  readonly older: readonly Vault[];
}

export class Units {
  readonly #folder: string;
  readonly #vault: Vault;
  readonly #older: readonly Vault[];
  readonly #held: HeldUnit[] = [];
  /** The number of units that were gone when the folder was opened: copied, torn, or of another vault. */
  #gone = 0;

  private constructor({ folder, vault, older }: UnitPlace) {
    this.#folder = folder;
    this.#vault = vault;
    this.#older = older;
  }

  static async open(place: UnitPlace): Promise<Units> {
    const { folder } = place;
    makePrivateFolder(folder);
    const units = new Units(place);
    for (const name of (await readdir(folder)).filter((one) => one.endsWith(ENDING)))
      await units.#open(join(folder, name));
    units.#held.sort((a, b) => a.epoch.closes - b.epoch.closes);
    return units;
  }

  get gone(): number {
    return this.#gone;
  }

  get all(): readonly AuthorityRole.Unit[] {
    return this.#held;
  }

  /** True while a unit lives whose secret an earlier vault sealed. */
  get needOlder(): boolean {
    return this.#held.some(({ isOlder }) => isOlder);
  }

  /** The epoch that closes last comes last. */
  of(task: TaskId): readonly AuthorityRole.Unit[] {
    return this.#held.filter(({ epoch }) => equalBytes(epoch.task, task));
  }

  /** The unit is on the disk before its statement leaves. */
  async create(epoch: Epoch, secret: Uint8Array): Promise<void> {
    const statement = Epoch.encode(epoch);
    const sealed = this.#vault.seal(secretName(epoch), secret);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(statement.length);
    const file = await UnitFile.create(
      join(this.#folder, toHex(epoch.key) + ENDING),
      concatBytes(length, statement, sealed),
    );
    this.#held.push(new HeldUnit(file, epoch, secret.slice()));
  }

  /** All records are on the disk when this returns, each in its own unit. */
  async write(writes: readonly AuthorityRole.UnitWrite[]): Promise<void> {
    for (const write of writes) {
      const unit = this.#unit(write.statement);
      if (unit === undefined) throw new Error('the unit of a batch is gone');
      try {
        await unit.file.append(concatBytes(Uint8Array.of(KINDS.indexOf(write.kind)), write.ctx, ...write.names));
      } catch (error) {
        if (unit.file.hasFailed) await this.#giveUp(unit);
        throw error;
      }
      unit.add(write);
    }
  }

  /** Copies, which the caller overwrites. */
  openingsOf(task: TaskId): readonly (HolderSecret & { readonly statement: Uint8Array })[] {
    return this.#held
      .filter(({ epoch }) => equalBytes(epoch.task, task))
      .map((unit) => ({ statement: unit.statement, ...unit.opening() }));
  }

  /** A copy, which the caller overwrites. */
  secretOf(statement: Uint8Array): Uint8Array | undefined {
    return this.#unit(statement)?.secret.reveal().slice();
  }

  /** Destroys the units of these epochs, with the secrets and the names. */
  async destroy(isOver: (epoch: Epoch) => boolean): Promise<void> {
    for (const unit of this.#held.filter(({ epoch }) => isOver(epoch))) {
      this.#held.splice(this.#held.indexOf(unit), 1);
      unit.wipe();
      await unit.file.destroy();
    }
  }

  async close(): Promise<void> {
    for (const unit of [...this.#held]) await this.#giveUp(unit);
  }

  /** It lives no longer here; the next start reads its file again. */
  async #giveUp(unit: HeldUnit): Promise<void> {
    this.#held.splice(this.#held.indexOf(unit), 1);
    unit.wipe();
    await unit.file.close();
  }

  #unit(statement: Uint8Array): HeldUnit | undefined {
    return this.#held.find((unit) => equalBytes(unit.statement, statement));
  }

  async #open(path: string): Promise<void> {
    const opened = await UnitFile.open(path);
    const unit = opened && this.#read(opened.file, opened.contents);
    if (unit !== undefined) {
      this.#held.push(unit);
      return;
    }
    this.#gone++;
    await (opened === undefined ? removeUnitFile(path) : opened.file.destroy());
  }

  #read(file: UnitFile, [first, ...others]: readonly Uint8Array[]): HeldUnit | undefined {
    const content = Buffer.from(first as Uint8Array);
    const end = 2 + content.readUInt16LE();
    const epoch = Epoch.decode(content.subarray(2, end));
    const [name, sealed] = [secretName(epoch), content.subarray(end)];
    const own = this.#vault.open(name, sealed);
    const secret = own ?? this.#older.map((vault) => vault.open(name, sealed)).find((one) => one !== undefined);
    if (secret === undefined || !equalBytes(Epochs.agreementKeyOf(suite, secret), epoch.key)) return undefined;
    const unit = new HeldUnit(file, epoch, secret, own === undefined);
    for (const record of others) unit.add(decoded(record));
    return unit;
  }
}

function decoded(record: Uint8Array): Omit<AuthorityRole.UnitWrite, 'statement'> {
  const [kind = 0] = record;
  const hashes = Array.from({ length: (record.length - 1) / NAME_BYTES }, (_, n) =>
    record.slice(1 + n * NAME_BYTES, 1 + (n + 1) * NAME_BYTES),
  );
  const [ctx, ...names] = hashes;
  return { kind: KINDS[kind] as AuthorityRole.UnitWrite['kind'], ctx: ctx as Ctx, names };
}

/** Binds a sealed secret to its epoch. */
function secretName({ task, key }: Epoch): string {
  return `epoch secret ${toHex(task)} ${toHex(key)}`;
}
