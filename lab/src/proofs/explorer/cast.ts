/** Who takes part in an exploration, and what is true before its first step. */
import { ascii, concatBytes, type Keystream, type MaskTools, RING_32, type Signer, type Suite } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStep,
  allSteps,
  bufferRequestCodec,
  buildInput,
  type Certificate,
  type Ctx,
  checkDrawnBuffer,
  ENGINE,
  type Millis,
  millis,
  modelAppendCodec,
  POLICY_DEFAULTS,
  type Seated,
  type ServerPorts,
  slotKeyIssuer,
  slotSealing,
  type TaskId,
  type TaskPolicy,
  taskIdOf,
  type UserId,
  userIdOf,
} from '@basa/protocol';
import { granted, type Sealings, transparentSealings } from '@basa/simulator';
import { signerOf, unsafeSymbolicTools } from './symbolic-tools.ts';

/** What the environment does that it should not: a rule of the host switched off. */
export type BrokenRule =
  | 'server answers before it writes'
  | 'server loses its last record'
  | 'server asks for close before it froze'
  | 'authority answers before it writes'
  | 'authority starts without its witness'
  | 'user forgets its last record'
  | 'user forgets where its update went';

export interface CastOptions {
  readonly bufferSize: number;
  /** Attributes that hide nothing by default. */
  readonly engine?: 'slot keys';
  readonly minimum?: number;
  /** K by default. */
  readonly users?: number;
  /** Buffers of the task: users that leave one may go to the next. */
  readonly buffers?: number;
  /** User 0 seals garbage to later slots, or into its self mask. */
  readonly cheat?: 'edges' | 'self';
  /** The authority may lose its newest record once, and starts again with its witness. */
  readonly rollback?: boolean;
  /** Every party may also die after any of its records, before the answer leaves. */
  readonly crashes?: boolean;
  /** No clock moves and nobody leaves: fewer states, deeper ones. */
  readonly still?: boolean;
  readonly broken?: BrokenRule;
}

export interface Player {
  readonly signer: Signer;
  readonly user: UserId;
  readonly certificate: Certificate;
  /** x' of its one-hot update. */
  readonly input: Uint32Array;
}

/** A buffer as a user takes it: checked against its pins. */
type DrawnBuffer = Extract<Seated, { kind: 'seated' }>;

export interface Cast {
  readonly options: CastOptions;
  readonly tools: MaskTools<Keystream>;
  readonly sealings: Sealings;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly authority: AuthorityPorts;
  readonly server: ServerPorts;
  readonly users: readonly Player[];
  readonly buffers: readonly DrawnBuffer[];
  /** Task, devices, model 0 and the drawn buffers. */
  readonly genesis: readonly AuthorityRecord[];
}

const LEASE_MS = 10;
const OPEN_MS = 100;

/** The clock stands at the start, past the first leases, at expiry, or at closeBy. */
export const HOURS = [
  { now: millis(1000), words: 'the start' },
  { now: millis(1000 + LEASE_MS + 1), words: 'past the leases given so far' },
  { now: millis(1000 + OPEN_MS), words: 'expiry' },
  { now: millis(1000 + 2 * OPEN_MS), words: 'closeBy' },
] as const;

export function nowAt(hour: number): Millis {
  return (HOURS[hour] ?? HOURS[0]).now;
}

export function castOf(options: CastOptions): Cast {
  const tools = unsafeSymbolicTools();
  const { suite } = tools;
  const sealings = options.engine === 'slot keys' ? slotKeySealings(suite) : transparentSealings(suite);
  const seeded = (name: string): Signer => signerOf(suite.sha256(ascii(name)));
  const serverSigner = seeded('server');
  const authority: AuthorityPorts = { suite, signer: seeded('authority'), issuerFor: () => sealings.issuer };
  const users = options.users ?? options.bufferSize;
  const policy: TaskPolicy = {
    name: ascii('explored'),
    engine: sealings.engine,
    bufferSize: options.bufferSize,
    minimum: options.minimum ?? 2,
    dimension: users,
    modulus: RING_32,
    level: 1,
    clip: 1,
    staleness: { kind: 'constant' },
    maxStaleness: 10,
    ...POLICY_DEFAULTS,
    // A device may do more here than with one version a buffer: no promise is broken there that holds here.
    versions: 'unsafeMixed',
    authorities: [authority.signer.publicKey],
    manifestHash: new Uint8Array(32),
    serverKey: serverSigner.publicKey,
    uploadLeaseMs: LEASE_MS,
    openMs: OPEN_MS,
    closeMs: OPEN_MS,
  };
  const task = taskIdOf(suite, policy);
  const core = new AttributeAuthority(authority);
  const genesis: AuthorityRecord[] = [];
  const written = <Answer extends object>({ records, answer }: AuthorityStep<Answer>): Answer => {
    genesis.push(...records);
    core.apply(records);
    return granted(answer);
  };

  written(core.createTask(policy));
  const append = { task, version: 0, modelHash: new Uint8Array(32), ctx: new Uint8Array(32) as Ctx, closed: [] };
  const model = written(
    core.appendModel({ ...append, signature: serverSigner.sign(modelAppendCodec.statement(append)) }),
  );
  const signers = Array.from({ length: users }, (_, n) => seeded(`user ${n}`));
  const certificates = signers.map(({ publicKey }) =>
    written(core.enrol({ task, deviceKey: publicKey, issuedAt: millis(0), notAfter: millis(10 ** 9) })),
  );
  const buffers = Array.from({ length: options.buffers ?? 1 }, (_, n) => {
    const body = { task, nonce: new Uint8Array(16).fill(n), model, newest: model, plan: [] };
    const request = { ...body, signature: serverSigner.sign(bufferRequestCodec.statement(body)) };
    const offer = new Uint8Array(16).fill(n);
    const slotKeys = allSteps(sealings.issuer.slotKeys({ task, offer, bufferSize: policy.bufferSize }));
    const fresh = { offer, sealingKey: sealings.issuer.sealingKey(slotKeys) };
    const descriptor = written(core.drawBuffer(request, fresh, nowAt(0)));
    return granted(checkDrawnBuffer(suite, { policy }, { descriptor, slotKeys }, nowAt(0), descriptor));
  });
  const { descriptor } = buffers[0] as DrawnBuffer;
  const players = signers.map((signer, n): Player => {
    const delta = new Float32Array(users);
    delta[n] = 1;
    const built = granted(buildInput(descriptor, { delta, trainedOn: 0, randomWords: (words) => words.fill(0) }));
    if (built.kind !== 'input') throw new Error('no input');
    return {
      signer,
      user: userIdOf(suite, signer.publicKey),
      certificate: certificates[n] as Certificate,
      input: built.vector,
    };
  });
  const server: ServerPorts = { suite, signer: serverSigner };
  return { options, tools, sealings, policy, task, authority, server, users: players, buffers, genesis };
}

function slotKeySealings(suite: Suite): Sealings {
  const issuer = slotKeyIssuer(suite, new Uint8Array(32).fill(7));
  return { engine: ENGINE.slotKeys, issuer, sealing: slotSealing(suite) };
}

/** Randomness that is a function of its name: the same step draws the same bytes wherever it is explored. */
export function namedBytes({ tools: { suite } }: Cast, name: string): (length: number) => Uint8Array {
  let count = 0;
  return (length) => {
    const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, n) =>
      suite.sha256(ascii(`${name} ${count}.${n}`)),
    );
    count++;
    return concatBytes(...blocks).slice(0, length);
  };
}
