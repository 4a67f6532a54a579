/** A one-shot federation for tests: its devices contribute by default, and its server makes any request of authorities. */
import { ascii } from '@basa/masking';
import { isRefused, type Millis, millis } from '@basa/protocol';
import { ONE_SHOT_DEFAULTS, type OneShotPolicy, type TaskPolicy } from '@basa/protocol/policy';
import { type ModelStatement, ShownModel } from '@basa/protocol/wire';
import { OneShotFederation, type ShotAuthority, type ShotDevice } from '@basa/simulator';
import { nodeEnvironment } from '@basa/simulator/node';
import { ShotRequests } from './shot-requests.ts';

export interface ShotOptions extends Partial<TaskPolicy> {
  /** 4 of which 3 are needed and 1 may collude; or 1. */
  readonly count?: 1 | 4;
  readonly shot?: Partial<OneShotPolicy>;
  readonly seed?: number;
}

export class ShotWorld {
  readonly federation: OneShotFederation;
  readonly server: ShotRequests;
  readonly environment = nodeEnvironment;

  constructor({ count = 4, shot = {}, seed = 1, ...policy }: ShotOptions = {}) {
    const oneShot = { ...ONE_SHOT_DEFAULTS, tolerated: count === 1 ? 0 : 1, ...shot };
    this.federation = new OneShotFederation(this.environment, {
      bufferSize: 4,
      minimum: 3,
      maxStaleness: 2,
      council: { authorities: count, threshold: count === 1 ? 1 : 3 },
      policy: { name: ascii('one-shot'), oneShot, ...policy },
      seed,
      now: 10_000_000,
    });
    this.server = new ShotRequests(this.federation);
  }

  get policy(): TaskPolicy {
    return this.federation.policy;
  }

  get task() {
    return this.federation.task;
  }

  get now(): Millis {
    return this.federation.now;
  }

  get randomBytes() {
    return this.federation.randomBytes;
  }

  /** Indices of authorities that do not answer. */
  get away(): Set<number> {
    return this.federation.away;
  }

  get authorities(): readonly ShotAuthority[] {
    return this.federation.keepers;
  }

  authority(index: number): ShotAuthority {
    return this.server.authority(index);
  }

  get indices(): readonly number[] {
    return this.server.indices;
  }

  signer() {
    return this.federation.signer();
  }

  openEpochs(): void {
    for (const index of this.indices) this.authority(index).openEpoch();
  }

  shown(): ShownModel {
    return ShownModel.decode(this.federation.shots.newestModel());
  }

  /** Makes the next version of the model. */
  nextVersion(): ModelStatement {
    return this.federation.server.add();
  }

  device(): ShotDevice {
    return this.federation.shooter();
  }

  /** Returns this many new devices that have contributed an update. */
  contributed(count: number): readonly ShotDevice[] {
    return Array.from({ length: count }, () => {
      const device = this.device();
      const end = device.contribute();
      if (isRefused(end)) throw new Error(end.reason);
      return device;
    });
  }

  pass(milliseconds: number): void {
    this.federation.now = millis(this.now + milliseconds);
  }
}
