/** A federation of the one-shot mode: the world of `Federation`, whose devices send one message and whose authorities sum masks. */
import { toHex } from '@basa/masking';
import {
  type DeltaCommitment,
  ENGINE,
  isRefused,
  ONE_SHOT_DEFAULTS,
  type Sealing,
  type ShotOutcomeOf,
} from '@basa/protocol';
import type { FederationDevice } from './device.ts';
import { Federation, type FederationOptions } from './federation.ts';
import { ShotAuthority } from './one-shot-authority.ts';
import { ShotDevice } from './one-shot-device.ts';
import { ShotServer } from './one-shot-server.ts';
import type { OneShotWorld } from './one-shot-world.ts';
import { transparentSealings } from './transparent-sealings.ts';
import type { Environment } from './world.ts';

export interface OneShotOptions extends Omit<FederationOptions, 'sealings' | 'oneShot' | 'from'> {
  /** f; 0 by default. */
  readonly tolerated?: number;
  readonly authorityNoise?: boolean;
  /** H; 1 by default. */
  readonly sumsPerVersion?: number;
  /** X25519 unless said otherwise. */
  readonly sealing?: Sealing;
  /** The tools with which authorities expand guard words; by default the same as for everything else. */
  readonly guardTools?: Environment['tools'];
}

export class OneShotFederation extends Federation implements OneShotWorld {
  readonly shots: ShotServer;
  readonly keepers: readonly ShotAuthority[];
  readonly shooters: ShotDevice[] = [];
  readonly #options: OneShotOptions;

  constructor(environment: Environment, options: OneShotOptions, from?: OneShotFederation) {
    const {
      tolerated = 0,
      authorityNoise = false,
      sumsPerVersion = 1,
      sealing = 'x25519',
      guardTools,
      ...others
    } = options;
    super(environment, {
      ...others,
      sealings: sealingsOf(environment, others.council?.authorities ?? 1),
      oneShot: { ...ONE_SHOT_DEFAULTS, tolerated, authorityNoise, sumsPerVersion, sealing },
      ...(from !== undefined && { from }),
    });
    this.#options = options;
    this.keepers = this.authorities.map((authority) => new ShotAuthority(authority, guardTools));
    this.shots = new ShotServer(this);
    if (from === undefined) for (const keeper of this.keepers) keeper.openEpoch();
    else this.#goOn(from);
  }

  /** Returns a federation in the same state. Steps of the copy change nothing here, and this one must take no more steps. */
  copy(): OneShotFederation {
    return new OneShotFederation(this.environment, this.#options, this);
  }

  #goOn({ keepers, shots, shooters }: OneShotFederation): void {
    for (const [n, keeper] of this.keepers.entries()) keeper.continue(keepers[n] as ShotAuthority);
    this.shots.restore(shots.disk);
    for (const device of shooters)
      this.shooters.push(device.copyIn(this, this.devices[device.own.number] as FederationDevice));
  }

  shooter(): ShotDevice {
    const device = new ShotDevice(this, this.device());
    this.shooters.push(device);
    return device;
  }

  /** Returns the status of the device's update, as reported by the authorities that are present. */
  outcomesOf({ deltaId, ledger, user }: FederationDevice): readonly ShotOutcomeOf[] {
    const given = ledger.deltas.get(toHex(deltaId));
    return given === undefined ? [] : this.keepers.flatMap((keeper) => this.#toldBy(keeper, user, given));
  }

  #toldBy(
    keeper: ShotAuthority,
    user: FederationDevice['user'],
    { joinTag, epochs }: DeltaCommitment,
  ): readonly ShotOutcomeOf[] {
    const authority = keeper.base.index;
    const named = epochs.find((one) => one.authority === authority);
    if (named === undefined || this.isAway(authority)) return [];
    const question = { user, joinTag, statement: named.statement };
    const outcome = this.call('outcome', () => keeper.outcome(question));
    return isRefused(outcome) ? [] : [{ authority, outcome }];
  }

  /** Time passes for all parties: epochs open and end. */
  tick(): void {
    for (const keeper of this.keepers) if (!this.isAway(keeper.base.index)) this.call('tick', () => keeper.tick());
  }

  protected override revive(party: 'server' | 'authority'): void {
    // Everything that the server relies on is on disk.
    if (party === 'authority') for (const keeper of this.keepers) keeper.restart();
  }
}

/** Nothing is sealed to slots here: only the name of the engine matters. */
function sealingsOf({ tools }: Environment, authorities: number): NonNullable<FederationOptions['sealings']> {
  const sealings = transparentSealings(tools.suite);
  const otherIssuers = Array.from({ length: authorities - 1 }, () => sealings.issuer);
  return { ...sealings, engine: ENGINE.oneShot, otherIssuers };
}
