/**
 * An authority of a one-shot federation: the real state machine of its log, the secrets of its epochs, and the uploads
 * it examined since it started.
 */
import { type HolderSecret, toHex } from '@basa/masking';
import {
  type AuthorityStanding,
  addAuthorityNoise,
  addMasksInPlace,
  type BatchVoteAnswer,
  batchVoteAnswerCodec,
  batchVoteRequestCodec,
  type Ctx,
  type ExaminedUpload,
  type ExaminePorts,
  epochKeysOf,
  epochSecretOf,
  examineUpload,
  type InspectAnswer,
  inputElements,
  inspectAnswerCodec,
  inspectRequestCodec,
  isRefused,
  type MaskedUpload,
  type MaskSum,
  type Millis,
  maskSumCodec,
  millis,
  type OpenedPart,
  oneShotOf,
  openParts,
  type Part,
  packSum,
  type Refused,
  type ReleaseAnswer,
  type ReleaseRequest,
  refused,
  releaseAnswerCodec,
  releaseRequestCodec,
  type ShotHeader,
  shownEpochs,
  signStatement,
  standingCodec,
} from '@basa/protocol';
import { type FederationAuthority, viaBytes } from './authority.ts';
import type { Environment } from './world.ts';

/** The signed hashes, and the vectors that were asked for in the same order. */
export interface ReleasedSums {
  readonly answer: ReleaseAnswer;
  readonly vectors: readonly Uint8Array[];
}

/** Observes the uploads that are expanded for one sum. */
type SumWatcher = (ctx: Ctx, part: Part, uploads: readonly MaskedUpload[]) => void;

export class ShotAuthority {
  readonly base: FederationAuthority;
  /** The offset of its clock from the time of the world. */
  clockMs = 0;
  onSum: SumWatcher | undefined;
  /** On disk, by public key; never in a restored copy. */
  readonly secrets = new Map<string, Uint8Array>();
  readonly #guardTools: Environment['tools'];
  /** In memory. */
  readonly examined = new Map<string, ExaminedUpload>();

  constructor(base: FederationAuthority, guardTools: Environment['tools'] = base.world.environment.tools) {
    this.base = base;
    this.#guardTools = guardTools;
  }

  /** Takes over the state of the same authority in another federation. */
  continue({ clockMs, secrets, examined }: ShotAuthority): void {
    this.clockMs = clockMs;
    for (const [key, secret] of secrets) this.secrets.set(key, secret);
    for (const [name, upload] of examined) this.examined.set(name, upload);
  }

  get now(): Millis {
    return millis(this.base.world.now + this.clockMs);
  }

  /** The secret is durable before the statement that names its key. */
  openEpoch(): void {
    const { task, policy, randomBytes, environment } = this.base.world;
    if (!this.base.core.isEpochDue(task, this.now)) return;
    const secret = randomBytes(32);
    const keys = epochKeysOf(environment.tools.suite, oneShotOf(policy).sealing, secret);
    this.secrets.set(toHex(keys.key), secret);
    this.base.persist(this.base.core.draft().openEpoch(task, keys, this.now));
  }

  standing(): AuthorityStanding | Refused {
    return viaBytes(standingCodec, this.base.core.standing(this.base.world.task, this.now));
  }

  inspect(bytes: Uint8Array): InspectAnswer | Refused {
    const request = inspectRequestCodec.decode(bytes);
    const { task, policy, environment } = this.base.world;
    const epochs = shownEpochs(environment.tools.suite, { id: task, policy }, request.epochs);
    const found = request.uploads.map((shown) => examineUpload(this.#ports, { id: task, policy }, shown, epochs));
    for (const one of found) if (!isRefused(one)) this.examined.set(toHex(one.name), one);
    return viaBytes(inspectAnswerCodec, this.base.core.inspect(request, found, this.now));
  }

  vote(bytes: Uint8Array): BatchVoteAnswer | Refused {
    const request = batchVoteRequestCodec.decode(bytes);
    const examinedOf = (upload: Ctx): ExaminedUpload | undefined => this.examined.get(toHex(upload));
    const step = this.base.core.draft().voteForBatch(request, examinedOf, this.now);
    return viaBytes(batchVoteAnswerCodec, this.base.persist(step));
  }

  release(bytes: Uint8Array): ReleasedSums | Refused {
    const request = releaseRequestCodec.decode(bytes);
    const released = this.base.persist(this.base.core.draft().releaseBatch(request, this.now));
    if (isRefused(released)) return released;
    const opened = this.#open(request);
    if ('kind' in opened) return opened;
    const vectors: Uint8Array[] = [];
    const sums: MaskSum[] = [];
    for (const { part, vector } of request.wanted) {
      const packed = this.#sum(released.ctx, part, opened);
      if (packed === undefined) return refused('part-invalid');
      sums.push(this.#signedSum(released.ctx, part, packed));
      if (vector) vectors.push(packed);
    }
    return { answer: viaBytes(releaseAnswerCodec, { vote: released.vote, sums }) as ReleaseAnswer, vectors };
  }

  /** The caller has checked that the request comes from the device of the upload. */
  /** Ends epochs that are over, and destroys their secrets. */
  tick(): void {
    this.base.persist(this.base.core.draft().tick(this.now));
    this.#forget();
    this.openEpoch();
  }

  /** Acts as after a crash: its memory is gone. */
  restart(): void {
    this.examined.clear();
    this.base.restart();
    this.#forget();
  }

  /** Replaces its log with an old copy of this many records; the witness of its head is not affected. */
  restore(records: number): void {
    this.base.log = this.base.log.slice(0, records);
    this.restart();
  }

  get #ports(): ExaminePorts {
    const tools = this.#guardTools;
    const epochSecret = (statement: Uint8Array) => this.epochSecret(statement);
    return { suite: tools.suite, authority: this.base.index, epochSecret, tools };
  }

  /** Returns the secret that opens parts sealed to this epoch, if it is alive. */
  epochSecret(statement: Uint8Array): HolderSecret | undefined {
    const live = this.base.core.liveEpochs.find((one) => toHex(one.statement) === toHex(statement));
    const secret = live && this.secrets.get(toHex(live.epoch.key));
    return secret && epochSecretOf(this.#guardTools.suite, oneShotOf(this.base.world.policy).sealing, secret);
  }

  #open({ epochs, uploads }: ReleaseRequest): readonly [ShotHeader, readonly OpenedPart[]][] | Refused {
    const { task, policy, environment } = this.base.world;
    const known = shownEpochs(environment.tools.suite, { id: task, policy }, epochs);
    const all: [ShotHeader, readonly OpenedPart[]][] = [];
    for (const shown of uploads) {
      const opened = openParts(this.#ports, { id: task, policy }, shown, known);
      if ('kind' in opened) return opened;
      all.push([shown.header, opened]);
    }
    return all;
  }

  /** Undefined if it does not hold the part. */
  #sum(ctx: Ctx, part: Part, opened: readonly [ShotHeader, readonly OpenedPart[]][]): Uint8Array | undefined {
    const { policy, environment } = this.base.world;
    const masked = opened.flatMap(([name, parts]): MaskedUpload[] => {
      const own = parts.find((one) => one.part === part);
      return own === undefined ? [] : [{ name, seed: own.seed.slice() }];
    });
    if (masked.length < opened.length) return undefined;
    this.onSum?.(ctx, part, masked);
    const sum = new Uint32Array(inputElements(policy));
    const ports = { suite: environment.tools.suite, tools: environment.tools };
    addMasksInPlace(sum, ports, policy, part, masked);
    const secret = this.#newestSecret(opened.map(([header]) => header));
    if (secret !== undefined) addAuthorityNoise(sum, ports, policy, secret, ctx);
    return packSum(sum, policy, environment.tools);
  }

  /** Returns the secret of the newest epoch of this authority that the batch names. */
  #newestSecret(headers: readonly ShotHeader[]): Uint8Array | undefined {
    const named = new Set(headers.flatMap(({ epochs }) => epochs.map(({ statement }) => toHex(statement))));
    const live = this.base.core.liveEpochs.filter(({ statement }) => named.has(toHex(statement)));
    const [newest] = live.sort((a, b) => b.epoch.number - a.epoch.number);
    return newest && this.secrets.get(toHex(newest.epoch.key));
  }

  #signedSum(ctx: Ctx, part: Part, packed: Uint8Array): MaskSum {
    const { suite, signer } = this.base.ports;
    const body = { task: this.base.world.task, ctx, part, hash: suite.sha256(packed) };
    return signStatement(maskSumCodec, signer, body);
  }

  /** Destroys the secrets of epochs that ended. */
  #forget(): void {
    const live = new Set(this.base.core.liveEpochs.map(({ epoch }) => toHex(epoch.key)));
    for (const key of this.secrets.keys()) if (!live.has(key)) this.secrets.delete(key);
  }
}
