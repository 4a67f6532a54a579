/** An authority of a one-shot task in memory: the real core with its log, the secrets of its epochs and the uploads that it examined. */
import { type HolderSecret, type Signer, type Suite, toHex } from '@basa/masking';
import {
  AttributeAuthority,
  type AuthorityPorts,
  type AuthorityRecord,
  type AuthorityStanding,
  type AuthorityStep,
  addMasksInPlace,
  type BatchVoteAnswer,
  type BatchVoteRequest,
  batchVoteAnswerCodec,
  batchVoteRequestCodec,
  type Codec,
  decodeAuthorityRecord,
  type Epoch,
  type ExaminedUpload,
  type ExaminePorts,
  encodeAuthorityRecord,
  epochKeysOf,
  epochSecretOf,
  examineUpload,
  type InspectAnswer,
  type InspectRequest,
  inspectAnswerCodec,
  inspectRequestCodec,
  isRefused,
  type MaskSum,
  maskSumCodec,
  type OpenedPart,
  oneShotOf,
  openParts,
  packSum,
  type Refused,
  type ReleaseAnswer,
  type ReleaseRequest,
  releaseAnswerCodec,
  releaseRequestCodec,
  type Sealing,
  type ShotOutcome,
  shotLayout,
  shotOutcomeCodec,
  shownEpochs,
  standingCodec,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { ShotStage } from './shot-stage.ts';

/** The message of an authority for a release. */
export interface Released {
  readonly answer: ReleaseAnswer;
  /** The packed sums that were asked for, in order. */
  readonly vectors: readonly Uint8Array[];
}

export class ShotAuthority {
  readonly world: ShotStage;
  readonly index: number;
  readonly ports: AuthorityPorts;
  log: AuthorityRecord[] = [];
  core: AttributeAuthority;
  /** By the statement of the epoch. */
  readonly secrets = new Map<string, Uint8Array>();
  readonly examined = new Map<string, ExaminedUpload>();

  constructor(world: ShotStage, suite: Suite, signer: Signer, index: number) {
    this.world = world;
    this.index = index;
    this.ports = { suite, signer, issuerFor: () => undefined };
    this.core = new AttributeAuthority(this.ports);
  }

  /** Makes the records durable, then applies them. */
  persist<Answer>({ records, answer }: AuthorityStep<Answer>): Answer | Refused {
    const written = records.map((entry) => decodeAuthorityRecord(encodeAuthorityRecord(entry)));
    this.log.push(...written);
    this.core.apply(written);
    this.#forget();
    return answer;
  }

  /** Destroys the secrets of epochs that ended. */
  #forget(): void {
    const live = new Set(this.core.liveEpochs.map(({ statement }) => toHex(statement)));
    for (const name of this.secrets.keys()) if (!live.has(name)) this.secrets.delete(name);
  }

  /** Opens an epoch if one is due, and returns the newest. */
  openEpoch(): Epoch {
    const { world, ports, core } = this;
    const secret = world.randomBytes(32);
    const keys = epochKeysOf(ports.suite, this.#sealing, secret);
    granted(this.persist(core.openEpoch(world.task, keys, world.now)) as object);
    const { epoch, statement } = core.liveEpochs.at(-1) as (typeof core.liveEpochs)[number];
    if (!this.secrets.has(toHex(statement))) this.secrets.set(toHex(statement), secret);
    return epoch;
  }

  standing(): AuthorityStanding | Refused {
    return viaBytes(standingCodec, this.core.standing(this.world.task, this.world.now));
  }

  get #ports(): ExaminePorts {
    const { suite } = this.ports;
    const epochSecret = (statement: Uint8Array): HolderSecret | undefined => this.opening(statement);
    return { suite, authority: this.index, epochSecret, tools: this.world.environment.tools };
  }

  /** The secret that opens the parts sealed to an epoch. */
  opening(statement: Uint8Array): HolderSecret | undefined {
    const secret = this.secrets.get(toHex(statement));
    return secret && epochSecretOf(this.ports.suite, this.#sealing, secret);
  }

  get #sealing(): Sealing {
    return oneShotOf(this.world.policy).sealing;
  }

  inspect(bytes: Uint8Array): InspectAnswer | Refused {
    const request: InspectRequest = inspectRequestCodec.decode(bytes);
    const task = { id: request.task, policy: this.world.policy };
    const epochs = shownEpochs(this.ports.suite, task, request.epochs);
    const examined = request.uploads.map((shown) => examineUpload(this.#ports, task, shown, epochs));
    for (const one of examined) if (!isRefused(one)) this.examined.set(toHex(one.name), one);
    return viaBytes(inspectAnswerCodec, this.core.inspect(request, examined, this.world.now));
  }

  vote(bytes: Uint8Array): BatchVoteAnswer | Refused {
    const request: BatchVoteRequest = batchVoteRequestCodec.decode(bytes);
    const step = this.core.voteForBatch(request, (name) => this.examined.get(toHex(name)), this.world.now);
    return viaBytes(batchVoteAnswerCodec, this.persist(step));
  }

  release(bytes: Uint8Array): Released | Refused {
    const request: ReleaseRequest = releaseRequestCodec.decode(bytes);
    const released = this.persist(this.core.releaseBatch(request, this.world.now));
    if (isRefused(released)) return released;
    const { policy, task } = this.world;
    const shown = shownEpochs(this.ports.suite, { id: task, policy }, request.epochs);
    const opened = request.uploads.map((upload) => openParts(this.#ports, { id: task, policy }, upload, shown));
    const bad = opened.find(isRefused);
    if (bad !== undefined) return bad;
    const vectors = request.wanted.map(({ part }) => this.#sumOf(request, opened as OpenedPart[][], part));
    const sums = vectors.map((packed, n): MaskSum => {
      const body = { task, ctx: released.ctx, part: request.wanted[n]?.part as number };
      return this.#signed({ ...body, hash: this.ports.suite.sha256(packed) });
    });
    const answer = viaBytes(releaseAnswerCodec, { vote: released.vote, sums }) as ReleaseAnswer;
    return { answer, vectors: vectors.filter((_, n) => request.wanted[n]?.vector) };
  }

  #signed(body: Omit<MaskSum, 'signature'>): MaskSum {
    return { ...body, signature: this.ports.signer.sign(maskSumCodec.statement(body)) };
  }

  #sumOf({ uploads }: ReleaseRequest, opened: OpenedPart[][], part: number): Uint8Array {
    const { policy, environment } = this.world;
    const { tools } = environment;
    const sum = new Uint32Array(shotLayout(policy, []).elements);
    const masked = uploads.map(({ header }, n) => {
      const own = (opened[n] as OpenedPart[]).find((one) => one.part === part) as OpenedPart;
      return { name: header, seed: own.seed };
    });
    addMasksInPlace(sum, { suite: this.ports.suite, tools }, policy, part, masked);
    return packSum(sum, policy, tools);
  }

  outcome({ user, joinTag, statement }: Pick<ShotOutcome, 'user' | 'joinTag' | 'statement'>): ShotOutcome {
    const question = { user, joinTag, statement };
    const step = this.core.shotOutcome(this.world.task, question, this.world.now);
    return granted(viaBytes(shotOutcomeCodec, this.persist(step)));
  }

  tick(): void {
    this.persist(this.core.tick(this.world.now));
  }

  /** Comes back with this log: its own by default, another one as after a restore. It remembers no examined uploads. */
  restart(log: readonly AuthorityRecord[] = this.log): void {
    this.log = log.map((entry) => decodeAuthorityRecord(encodeAuthorityRecord(entry)));
    this.core = AttributeAuthority.restore(this.ports, this.log);
    this.examined.clear();
  }
}

function viaBytes<T>(codec: Codec<T>, answer: T | Refused): T | Refused {
  return isRefused(answer as object) ? answer : codec.decode(codec.encode(answer as T));
}
