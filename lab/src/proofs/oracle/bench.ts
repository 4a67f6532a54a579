/** The standing part of an oracle's world: one authority with its log, one server key, enrolled devices. */
import { ascii, concatBytes, type RandomBytes, RING_32, type Signer, toHex } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStep,
  type Certificate,
  type Ctx,
  type Head,
  type Millis,
  modelAppendCodec,
  POLICY_DEFAULTS,
  type Refused,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { CLOSE_MS, granted, LEASE_MS, OPEN_MS, type Sealings } from '@basa/simulator';
import { countingBytes, unsafeSymbolicSigner, unsafeSymbolicSuite } from '../unsafe-symbolic-suite.ts';
import { type OracleEngine, sealingsOf } from './engines.ts';

export const START = 1_000_000 as Millis;

export interface BufferShape {
  readonly bufferSize: number;
  readonly minimum: number;
}

export class Bench {
  readonly suite = unsafeSymbolicSuite;
  readonly serverSigner: Signer;
  readonly authorityPorts: AuthorityPorts;
  authority: AttributeAuthority;
  /** The authority's log on disk. */
  log: AuthorityRecord[] = [];
  /** Counts every draw of random bytes: no seed has the name of another. */
  readonly counter: { next: number } = { next: 1 };
  readonly sealings: Sealings;
  readonly #tasks = new Map<string, { policy: TaskPolicy; task: TaskId }>();
  readonly #certificates = new Map<string, Certificate>();

  constructor(engine: OracleEngine) {
    this.sealings = sealingsOf(engine);
    this.serverSigner = this.signer('server', 0);
    this.authorityPorts = {
      suite: this.suite,
      signer: this.signer('authority', 0),
      issuerFor: () => this.sealings.issuer,
    };
    this.authority = new AttributeAuthority(this.authorityPorts);
  }

  get authorityKey(): Uint8Array {
    return this.authorityPorts.signer.publicKey;
  }

  signer(role: string, number: number): Signer {
    return unsafeSymbolicSigner(this.suite.sha256(concatBytes(ascii(role), Uint8Array.of(number))));
  }

  randomBytes(onDraw: (name: number) => void): RandomBytes {
    return countingBytes(onDraw, this.counter);
  }

  persist<Answer>({ records, answer, decidedAt }: AuthorityStep<Answer>): Answer | Refused {
    for (const entry of records) this.log.push(entry);
    this.authority.apply(records, decidedAt);
    return answer;
  }

  /** The authority's folder is put back to an old state, and it starts with the head a witness kept, if one did. */
  rollBack(length: number, witness?: Head): void {
    this.log = this.log.slice(0, length);
    this.authority = AttributeAuthority.restore(this.authorityPorts, this.log);
    // Nobody notices.
    if (witness === undefined) return;
    this.persist(this.authority.start(witness, this.randomBytes(() => {})(16)));
  }

  /** The task of buffers of this shape, with its first model logged. */
  task({ bufferSize, minimum }: BufferShape): { readonly policy: TaskPolicy; readonly task: TaskId } {
    const name = `${bufferSize}/${minimum}`;
    const made = this.#tasks.get(name);
    if (made !== undefined) return made;
    const policy: TaskPolicy = {
      name: ascii('oracle'),
      engine: this.sealings.engine,
      bufferSize,
      minimum,
      dimension: 1,
      modulus: RING_32,
      level: 1,
      clip: 1,
      staleness: { kind: 'constant' },
      maxStaleness: 10,
      ...POLICY_DEFAULTS,
      // A device may do more here than with one version a buffer: nothing leaks there that does not leak here.
      versions: 'unsafeMixed',
      authorities: [this.authorityKey],
      manifestHash: new Uint8Array(32),
      serverKey: this.serverSigner.publicKey,
      uploadLeaseMs: LEASE_MS,
      openMs: OPEN_MS,
      closeMs: CLOSE_MS,
    };
    const task = taskIdOf(this.suite, policy);
    granted(this.persist(this.authority.createTask(policy)));
    const append = { task, version: 0, modelHash: new Uint8Array(32), ctx: new Uint8Array(32) as Ctx, closed: [] };
    const signature = this.serverSigner.sign(modelAppendCodec.statement(append));
    granted(this.persist(this.authority.appendModel({ ...append, signature })));
    this.#tasks.set(name, { policy, task });
    return { policy, task };
  }

  certificate(task: TaskId, signer: Signer): Certificate {
    const name = toHex(task.subarray(0, 8)) + toHex(signer.publicKey.subarray(0, 8));
    const made = this.#certificates.get(name);
    if (made !== undefined) return made;
    const body = { task, deviceKey: signer.publicKey, issuedAt: 0 as Millis, notAfter: (START * 1000) as Millis };
    const certificate = granted(this.persist(this.authority.enrol(body)));
    this.#certificates.set(name, certificate);
    return certificate;
  }
}
