/** A one-shot task in memory: real cores of devices, server and authorities; every message is encoded and decoded. */
import { ascii, type RandomBytes, RING_32 } from '@basa/masking';
import {
  type AuthorityStanding,
  type Certificate,
  type Ctx,
  ENGINE,
  isRefused,
  joined,
  type Millis,
  type ModelAppend,
  type ModelEntry,
  millis,
  modelAppendCodec,
  ONE_SHOT_DEFAULTS,
  type OneShotPolicy,
  POLICY_DEFAULTS,
  policyProblem,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { type Environment, granted } from '@basa/simulator';
import { nodeEnvironment } from '@basa/virtual-time/simulation';
import { seededBytes } from '../seeded-bytes.ts';
import { ShotAuthority } from './shot-authority.ts';
import { ShotDevice } from './shot-device.ts';
import { ShotServer } from './shot-server.ts';
import type { WholeStage } from './shot-stage.ts';

export interface ShotOptions extends Partial<TaskPolicy> {
  /** 4 of which 3 are needed and 1 may collude; or 1. */
  readonly count?: 1 | 4;
  readonly shot?: Partial<OneShotPolicy>;
  readonly seed?: number;
}

export class ShotWorld implements WholeStage {
  readonly environment: Environment = nodeEnvironment;
  readonly randomBytes: RandomBytes;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly authorities: readonly ShotAuthority[];
  readonly server: ShotServer;
  readonly devices: ShotDevice[] = [];
  /** Authorities that do not answer. */
  readonly away = new Set<number>();
  now: Millis = millis(10_000_000);

  constructor({ count = 4, shot = {}, seed = 1, ...policy }: ShotOptions = {}) {
    this.randomBytes = seededBytes(seed);
    const { suite } = this.environment.tools;
    const signers = Array.from({ length: count }, () => this.signer());
    const serverSigner = this.signer();
    this.policy = {
      ...POLICY_DEFAULTS,
      name: ascii('one-shot'),
      engine: ENGINE.oneShot,
      oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: count === 1 ? 0 : 1, ...shot },
      authorities: signers.map(({ publicKey }) => publicKey),
      threshold: count === 1 ? 1 : 3,
      serverKey: serverSigner.publicKey,
      bufferSize: 4,
      minimum: 3,
      dimension: 8,
      modulus: RING_32,
      level: 1,
      clip: 1,
      staleness: { kind: 'constant' },
      maxStaleness: 2,
      metrics: [],
      privacy: undefined,
      manifestHash: new Uint8Array(32),
      uploadLeaseMs: 1000,
      openMs: 60_000,
      closeMs: 60_000,
      ...policy,
    };
    const problem = policyProblem(this.policy);
    if (problem !== undefined) throw new Error(problem);
    this.task = taskIdOf(suite, this.policy);
    this.authorities = signers.map((signer, index) => new ShotAuthority(this, suite, signer, index));
    this.server = new ShotServer(this, serverSigner);
    for (const authority of this.authorities) granted(authority.persist(authority.core.createTask(this.policy)));
    this.append({ sums: [], spoilt: [] });
    this.openEpochs();
  }

  signer() {
    return this.environment.createSigner(this.randomBytes(32));
  }

  authority(index: number): ShotAuthority {
    const authority = this.authorities[index];
    if (authority === undefined) throw new RangeError(`there is no authority ${index}`);
    return authority;
  }

  get indices(): readonly number[] {
    return this.authorities.map(({ index }) => index).filter((index) => !this.away.has(index));
  }

  openEpochs(): void {
    for (const index of this.indices) this.server.hear(this.authority(index).openEpoch());
  }

  standings(): readonly AuthorityStanding[] {
    return this.indices.map((index) => granted(this.authority(index).standing()));
  }

  /** Appends the next version of the model, at the authorities that are present. */
  append({ sums, spoilt }: { readonly sums: readonly Ctx[]; readonly spoilt: readonly Ctx[] }): ModelEntry {
    const version = this.server.models.length;
    const modelHash = this.environment.tools.suite.sha256(Uint8Array.of(version));
    const body: Omit<ModelAppend, 'signature'> = { task: this.task, version, modelHash, sums, spoilt, closed: [] };
    const append = { ...body, signature: this.server.signer.sign(modelAppendCodec.statement(body)) };
    const cores = this.indices.map((index) => this.authority(index));
    const entries = cores.map((one) => granted(one.persist(one.core.appendModel(append))));
    const entry = { ...(entries[0] as ModelEntry), endorsements: joined(entries.flatMap((one) => one.endorsements)) };
    for (const one of cores) granted(one.persist(one.core.adoptModel(entry)));
    this.server.models.push(entry);
    return entry;
  }

  device(): ShotDevice {
    const signer = this.signer();
    const body = {
      task: this.task,
      deviceKey: signer.publicKey,
      issuedAt: this.now,
      notAfter: millis(this.now + 100 * 3_600_000),
    };
    const certificates = this.authorities.map((one) => granted(one.persist(one.core.enrol(body))));
    const endorsements = joined(certificates.flatMap((one) => one.endorsements));
    const certificate = { ...(certificates[0] as Certificate), endorsements };
    const device = new ShotDevice(this, this.devices.length, signer, certificate);
    this.devices.push(device);
    return device;
  }

  /** Returns this many new devices that have contributed an update. */
  contributed(count: number): readonly ShotDevice[] {
    return Array.from({ length: count }, () => {
      const device = this.device();
      const end = device.contribute();
      if (end.kind !== 'acknowledged') throw new Error(isRefused(end) ? end.reason : end.kind);
      return device;
    });
  }

  pass(milliseconds: number): void {
    this.now = millis(this.now + milliseconds);
  }
}
