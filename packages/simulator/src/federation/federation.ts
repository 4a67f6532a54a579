/**
 * A whole federation in memory: the real cores of server, authority and users, each with its own disk. Every message is
 * encoded and decoded. Any party may crash after any record, and any reply may be lost: the world continues.
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
import {
  type Ctx,
  type MetricRange,
  type Millis,
  millis,
  type OneShotPolicy,
  type Pins,
  POLICY_DEFAULTS,
  type PrivacyPolicy,
  type Staleness,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type Versions,
} from '@basa/protocol';
import { FederationAuthority } from './authority.ts';
import { Crash, type PartyName } from './crash.ts';
import { FederationDevice } from './device.ts';
import { randomBytesFrom } from './random-bytes.ts';
import { FederationServer } from './server.ts';
import { transparentSealings } from './transparent-sealings.ts';
import type { Environment, Sealings, World } from './world.ts';

export interface FederationOptions {
  readonly bufferSize: number;
  readonly minimum?: number;
  readonly dimension?: number;
  readonly modulus?: Modulus;
  readonly level?: number;
  readonly versions?: Versions;
  readonly staleness?: Staleness;
  readonly maxStaleness?: number;
  readonly metrics?: readonly MetricRange[];
  readonly privacy?: PrivacyPolicy;
  readonly sealings?: Sealings;
  /** The number of authorities and the number that are needed; one by default. */
  readonly council?: {
    readonly authorities: number;
    readonly threshold: number;
    /** Allows a threshold that tolerates no dishonest authority. */
    readonly unsafeThreshold?: boolean;
  };
  /** The settings of the one-shot mode; its federation is `OneShotFederation`. */
  readonly oneShot?: OneShotPolicy;
  /** Fields of the policy that differ from all of the above. */
  readonly policy?: Partial<TaskPolicy>;
  readonly seed?: number;
  /** The time at which it starts. */
  readonly now?: number;
  /** Continues from the state of another federation with the same options, which it does not change. */
  readonly from?: Federation;
}

const ALONE: NonNullable<FederationOptions['council']> = { authorities: 1, threshold: 1 };

export const LEASE_MS = 1000;
export const OPEN_MS = 60_000;
export const CLOSE_MS = 60_000;

export class Federation implements World {
  readonly environment: Environment;
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly server: FederationServer;
  readonly authorities: readonly FederationAuthority[];
  /** Indices of authorities that do not answer. */
  readonly away = new Set<number>();
  readonly devices: FederationDevice[] = [];
  now: Millis;
  /** Crash after this many more records, and lose the first reply of these steps. */
  crashIn: number | undefined;
  readonly loseReplies = new Set<string>();
  records = 0;
  readonly randomBytes: RandomBytes;
  /** The number of its stream of random words. A copy has the next one, so that it draws nothing that was drawn before. */
  readonly seed: number;

  constructor(environment: Environment, options: FederationOptions) {
    const { from } = options;
    this.environment = environment;
    this.now = from?.now ?? millis(options.now ?? 1_000_000);
    this.seed = from === undefined ? (options.seed ?? 1) : from.seed + 1;
    this.randomBytes = randomBytesFrom(environment.randomWords(this.seed));
    this.sealings = from?.sealings ?? options.sealings ?? transparentSealings(environment.tools.suite);
    const serverSigner = from?.server.ports.signer ?? this.signer();
    const { authorities: count, threshold, unsafeThreshold = false } = options.council ?? ALONE;
    const signers =
      from?.authorities.map(({ ports }) => ports.signer) ?? Array.from({ length: count }, () => this.signer());
    this.policy = from?.policy ?? {
      name: ascii('federation'),
      engine: this.sealings.engine,
      bufferSize: options.bufferSize,
      minimum: options.minimum ?? 2,
      dimension: options.dimension ?? 8,
      modulus: options.modulus ?? RING_32,
      level: options.level ?? 1,
      clip: 1,
      staleness: options.staleness ?? { kind: 'constant' },
      maxStaleness: options.maxStaleness ?? 10,
      ...POLICY_DEFAULTS,
      versions: options.versions ?? POLICY_DEFAULTS.versions,
      oneShot: options.oneShot,
      authorities: signers.map(({ publicKey }) => publicKey),
      threshold,
      unsafeThreshold,
      metrics: options.metrics ?? [],
      privacy: options.privacy,
      manifestHash: new Uint8Array(32),
      serverKey: serverSigner.publicKey,
      uploadLeaseMs: LEASE_MS,
      openMs: OPEN_MS,
      closeMs: CLOSE_MS,
      ...options.policy,
    };
    this.task = from?.task ?? taskIdOf(environment.tools.suite, this.policy);
    this.authorities = signers.map((signer, index) => new FederationAuthority(this, signer, index));
    this.server = new FederationServer(this, serverSigner);
    if (from === undefined) {
      for (const authority of this.authorities) authority.createTask();
      this.server.appendModel(0, new Uint8Array(32) as Ctx);
    } else this.#continue(from);
  }

  /** Takes over the disks of devices and authorities, and the server's log of models. */
  #continue(from: Federation): void {
    for (const [n, authority] of this.authorities.entries())
      authority.continue(from.authorities[n] as FederationAuthority);
    this.server.modelLog.push(...from.server.modelLog);
    for (const device of from.devices) this.devices.push(device.copyIn(this));
  }

  get pins(): Pins {
    return { policy: this.policy };
  }

  get authority(): FederationAuthority {
    return this.authorities[0] as FederationAuthority;
  }

  isAway = (authority: number): boolean => this.away.has(authority);

  signer(): Signer {
    return this.environment.createSigner(this.randomBytes(32));
  }

  device(): FederationDevice {
    const device = new FederationDevice(this, this.devices.length, this.signer());
    this.devices.push(device);
    return device;
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
      this.revive(error.party);
      return request();
    }
  }

  /** Restarts the party from its disk. All authorities restart, and those that did not crash continue in the same state. */
  protected revive(party: 'server' | 'authority'): void {
    if (party === 'server') this.server.restart();
    else for (const authority of this.authorities) authority.restart();
  }

  mask(vector: Uint32Array, plan: MaskPlan): void {
    applyMasksInPlace(vector, plan, this.environment.tools);
  }

  /** Fills one buffer with the given devices, in this order, and returns it. */
  fill(devices: readonly FederationDevice[]): Ctx {
    let ctx: Ctx | undefined;
    for (const device of devices) {
      device.contribute();
      ctx = device.ctx;
    }
    if (ctx === undefined) throw new Error('no device');
    return ctx;
  }
}
