/** The disks of the parties of a one-shot world: loaded into the federation's parties, and saved from them again. */
import { toHex } from '@basa/masking';
import {
  type AuthorityRecord,
  type Head,
  type HeadBody,
  type LedgerRecord,
  restoreLedger,
  type UserRecord,
  uploadNameOf,
} from '@basa/protocol';
import type { OneShotFederation, ShotAuthority, ShotDevice, ShotDisk } from '@basa/simulator';
import { canonical } from '../canonical.ts';
import { Interner } from '../interner.ts';

interface DeviceDisk {
  readonly records: readonly UserRecord[];
  readonly ledger: readonly LedgerRecord[];
  readonly input: Uint32Array | undefined;
  readonly heads: readonly (readonly [number, HeadBody])[];
}

interface AuthorityDisk {
  readonly log: readonly AuthorityRecord[];
  /** Kept elsewhere. */
  readonly witness: Head | undefined;
  readonly secrets: readonly (readonly [string, Uint8Array])[];
}

/** Numbers of the parties' disks. */
export interface Disks {
  readonly devices: readonly number[];
  readonly server: number;
  readonly authorities: readonly number[];
}

export class DiskShelf {
  readonly #world: OneShotFederation;
  readonly #devices: readonly ShotDevice[];
  readonly #ofDevices = new Interner<DeviceDisk>();
  readonly #ofServers = new Interner<ShotDisk>();
  readonly #ofAuthorities = new Interner<AuthorityDisk>();
  readonly #names = new WeakMap<object, string>();
  #hasCrashed = true;

  constructor(world: OneShotFederation, devices: readonly ShotDevice[]) {
    this.#world = world;
    this.#devices = devices;
  }

  get size(): number {
    return this.#ofDevices.size + this.#ofServers.size + this.#ofAuthorities.size;
  }

  /** After a crash, the memory of parties must not be trusted. */
  crashed(): void {
    this.#hasCrashed = true;
  }

  /** Returns the first device whose acknowledged upload the server does not have; -1 if there is no such device. */
  lostBy({ devices, server }: Disks): number {
    const { suite } = this.#world.environment.tools;
    const has = new Set(this.#ofServers.value(server).uploads.map(({ name }) => toHex(name)));
    return devices.findIndex((number) => {
      const { records } = this.#ofDevices.value(number);
      const shot = records.find((entry) => entry.kind === 'shot');
      const isAcknowledged = records.some(({ kind }) => kind === 'acknowledged');
      return shot?.kind === 'shot' && isAcknowledged && !has.has(toHex(uploadNameOf(suite, shot.header)));
    });
  }

  /** Restarts every party whose disk differs; after a crash, all parties. */
  load({ devices, server, authorities }: Disks): void {
    const now = this.#hasCrashed ? undefined : this.save();
    this.#hasCrashed = false;
    for (const [n, device] of this.#devices.entries())
      if (now?.devices[n] !== devices[n]) loadDevice(device, this.#ofDevices.value(devices[n] as number));
    if (now?.server !== server) this.#world.shots.restore(this.#ofServers.value(server));
    for (const [n, keeper] of this.#world.keepers.entries())
      if (now?.authorities[n] !== authorities[n])
        loadAuthority(keeper, this.#ofAuthorities.value(authorities[n] as number));
  }

  save(): Disks {
    return {
      devices: this.#devices.map((device) => this.#deviceNumber(device)),
      server: this.#serverNumber(),
      authorities: this.#world.keepers.map((keeper) => this.#authorityNumber(keeper)),
    };
  }

  #deviceNumber({ own: { records, ledgerRecords, input }, heads }: ShotDevice): number {
    const disk = { records: [...records], ledger: [...ledgerRecords], input: input?.slice(), heads: [...heads] };
    const name = `${this.#join(records)}|${this.#join(ledgerRecords)}|${input?.join()}|${canonical(disk.heads)}`;
    return this.#ofDevices.number(name, disk);
  }

  #serverNumber(): number {
    const { disk } = this.#world.shots;
    const { uploads, batches, epochs, models } = disk;
    const name = `${this.#join(uploads)}|${this.#join(batches)}|${epochs.map(([one]) => one).join()}|${this.#join(models)}`;
    return this.#ofServers.number(name, disk);
  }

  #authorityNumber({ base, secrets }: ShotAuthority): number {
    const disk = { log: [...base.log], witness: base.witness, secrets: [...secrets] };
    const name = `${this.#join(base.log)}|${canonical(base.witness)}|${[...secrets.keys()].join()}`;
    return this.#ofAuthorities.number(name, disk);
  }

  #join(items: readonly object[]): string {
    return items.map((item) => this.#nameOf(item)).join(';');
  }

  /** Records never change. */
  #nameOf(item: object): string {
    const known = this.#names.get(item) ?? canonical(item);
    this.#names.set(item, known);
    return known;
  }
}

function loadDevice({ own, heads }: ShotDevice, disk: DeviceDisk): void {
  own.records = [...disk.records];
  own.ledgerRecords = [...disk.ledger];
  own.ledger = restoreLedger(disk.ledger);
  own.input = disk.input?.slice();
  heads.clear();
  for (const [authority, head] of disk.heads) heads.set(authority, head);
  own.restart();
}

function loadAuthority(keeper: ShotAuthority, { log, witness, secrets }: AuthorityDisk): void {
  keeper.secrets.clear();
  for (const [key, secret] of secrets) keeper.secrets.set(key, secret);
  keeper.base.log = [...log];
  keeper.base.witness = witness;
  keeper.restart();
}
