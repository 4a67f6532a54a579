/**
 * A whole federation in memory: the real cores of server, authorities and devices, each with its own disk. Every message is encoded and
 * decoded. Any party may crash after any record, and any reply may be lost: the world continues.
 */
import {
  applyMasksInPlace,
  ascii,
  type MaskPlan,
  type Modulus,
  type RandomBytes,
  RING_32,
  type Signer,
} from '@basa/masking';
import { type Millis, millis, type TaskId } from '@basa/protocol';
import {
  ENGINE,
  ONE_SHOT_DEFAULTS,
  POLICY_DEFAULTS,
  type Privacy,
  type Sealing,
  type TaskPolicy,
  type Training,
  taskIdOf,
} from '@basa/protocol/policy';
import { FederationAuthority } from './authority.ts';
import { Crash, type PartyName } from './crash.ts';
import { FederationDevice } from './device.ts';
import { ShotAuthority } from './one-shot-authority.ts';
import { ShotDevice } from './one-shot-device.ts';
import { ShotServer } from './one-shot-server.ts';
import type { OneShotWorld } from './one-shot-world.ts';
import { randomBytesFrom } from './random-bytes.ts';
import { ServerModels } from './server-models.ts';
import type { Environment } from './world.ts';

export interface OneShotOptions {
  readonly bufferSize: number;
  readonly minimum?: number;
  readonly dimension?: number;
  readonly modulus?: Modulus;
  readonly level?: number;
  readonly maxStaleness?: number;
  readonly metrics?: readonly Training.MetricRange[];
  readonly privacy?: Privacy.PrivacyPolicy;
  /** The number of authorities and the number that are needed; one by default. */
  readonly council?: { readonly authorities: number; readonly threshold: number };
  /** f; 0 by default. */
  readonly tolerated?: number;
  readonly authorityNoise?: boolean;
  readonly stepUpdates?: number;
  /** X25519 unless said otherwise. */
  readonly sealing?: Sealing;
  /** Fields of the policy that differ from all of the above. */
  readonly policy?: Partial<TaskPolicy>;
  /** The tools with which authorities expand guard words; by default the same as for everything else. */
  readonly guardTools?: Environment['tools'];
  readonly seed?: number;
  /** The time at which it starts. */
  readonly now?: number;
}

const ALONE: NonNullable<OneShotOptions['council']> = { authorities: 1, threshold: 1 };

export class OneShotFederation implements OneShotWorld {
  readonly environment: Environment;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly server: ServerModels;
  readonly shots: ShotServer;
  readonly keepers: readonly ShotAuthority[];
  /** Their devices. */
  readonly authorities: readonly FederationAuthority[];
  /** Indices of authorities that do not answer. */
  readonly away = new Set<number>();
  readonly devices: FederationDevice[] = [];
  readonly shooters: ShotDevice[] = [];
  now: Millis;
  /** Crash after this many more records, and lose the first reply of these steps. */
  crashIn: number | undefined;
  readonly loseReplies = new Set<string>();
  records = 0;
  readonly randomBytes: RandomBytes;
  /** The number of its stream of random words. A copy has the next one, so that it draws nothing that was drawn before. */
  readonly seed: number;
  readonly #options: OneShotOptions;

  constructor(environment: Environment, options: OneShotOptions, from?: OneShotFederation) {
    this.environment = environment;
    this.#options = options;
    this.now = from?.now ?? millis(options.now ?? 1_000_000);
    this.seed = from === undefined ? (options.seed ?? 1) : from.seed + 1;
    this.randomBytes = randomBytesFrom(environment.randomWords(this.seed));
    const serverSigner = from?.server.ports.signer ?? this.signer();
    const { authorities: count } = options.council ?? ALONE;
    const signers =
      from?.keepers.map(({ base }) => base.ports.signer) ?? Array.from({ length: count }, () => this.signer());
    this.policy = from?.policy ?? policyOf(options, serverSigner, signers);
    this.task = from?.task ?? taskIdOf(environment.tools.suite, this.policy);
    this.authorities = signers.map((signer, index) => new FederationAuthority(this, signer, index));
    this.keepers = this.authorities.map((base) => new ShotAuthority(base, options.guardTools));
    this.server = new ServerModels(this, serverSigner);
    this.shots = new ShotServer(this);
    if (from === undefined) this.#begin();
    else this.#continue(from);
  }

  #begin(): void {
    this.server.add();
    for (const keeper of this.keepers) keeper.openEpoch();
  }

  /** Takes over the disks of all parties. */
  #continue({ devices, keepers, shots, shooters }: OneShotFederation): void {
    for (const [n, keeper] of this.keepers.entries()) {
      const before = keepers[n] as ShotAuthority;
      keeper.base.continue(before.base);
      keeper.continue(before);
    }
    for (const device of devices) this.devices.push(device.copyIn(this));
    this.shots.restore(shots.disk);
    for (const device of shooters)
      this.shooters.push(device.copyIn(this, this.devices[device.own.number] as FederationDevice));
  }

  /** Returns a federation in the same state. Steps of the copy change nothing here, and this one must take no more steps. */
  copy(): OneShotFederation {
    return new OneShotFederation(this.environment, this.#options, this);
  }

  isAway = (authority: number): boolean => this.away.has(authority);

  signer(): Signer {
    return this.environment.createSigner(this.randomBytes(32));
  }

  shooter(): ShotDevice {
    const own = new FederationDevice(this, this.devices.length, this.signer());
    this.devices.push(own);
    const device = new ShotDevice(this, own);
    this.shooters.push(device);
    return device;
  }

  /** Time passes for all parties: epochs open and end. */
  tick(): void {
    for (const keeper of this.keepers) if (!this.isAway(keeper.base.index)) this.call('tick', () => keeper.tick());
  }

  /** Called when something became durable; this may be the last thing the party did. */
  persisted(party: PartyName): void {
    this.records++;
    if (this.crashIn !== undefined && --this.crashIn === 0) {
      this.crashIn = undefined;
      throw new Crash(party);
    }
  }

  /** Makes one request and returns its answer: retried if a party crashed during it, or if the reply was lost. */
  call<Answer>(step: string, request: () => Answer): Answer {
    const answer = this.#surviving(request);
    if (!this.loseReplies.delete(step)) return answer;
    return this.#surviving(request);
  }

  #surviving<Answer>(request: () => Answer): Answer {
    try {
      return request();
    } catch (error) {
      if (!(error instanceof Crash) || error.party === 'user') throw error;
      // Everything that the server relies on is on disk. All authorities restart; those that did not crash continue in the same state.
      if (error.party === 'authority') for (const keeper of this.keepers) keeper.restart();
      return request();
    }
  }

  mask(vector: Uint32Array, plan: MaskPlan): void {
    applyMasksInPlace(vector, plan, this.environment.tools);
  }
}

function policyOf(options: OneShotOptions, server: Signer, signers: readonly Signer[]): TaskPolicy {
  const { threshold } = options.council ?? ALONE;
  const { tolerated = 0, authorityNoise = false, stepUpdates = 1, sealing = 'x25519' } = options;
  return {
    name: ascii('federation'),
    engine: ENGINE.oneShot,
    bufferSize: options.bufferSize,
    minimum: options.minimum ?? 2,
    dimension: options.dimension ?? 8,
    modulus: options.modulus ?? RING_32,
    level: options.level ?? 1,
    clip: 1,
    staleness: { kind: 'constant' },
    maxStaleness: options.maxStaleness ?? 10,
    ...POLICY_DEFAULTS,
    oneShot: { ...ONE_SHOT_DEFAULTS, tolerated, authorityNoise, stepUpdates, sealing },
    authorities: signers.map(({ publicKey }) => publicKey),
    threshold,
    metrics: options.metrics ?? [],
    privacy: options.privacy,
    manifestHash: new Uint8Array(32),
    serverKey: server.publicKey,
    uploadLeaseMs: 1000,
    ...options.policy,
  };
}
