/** The server of a one-shot task in memory: the checks of its core, and requests to authorities with any change a test makes in them. */
import { addInPlace, equalBytes, type Signer, subtractInPlace, toHex, unpackVector } from '@basa/masking';
import {
  agreedSum,
  type Batch,
  type BatchVoteAnswer,
  type BatchVoteRequest,
  batchCtxOf,
  batchProblem,
  batchVote,
  batchVoteRequestCodec,
  type ClosingBatch,
  distinctEpochs,
  type Endorsement,
  type Epoch,
  epochNameOf,
  type GuardVerdict,
  guardVerdict,
  type InspectAnswer,
  type InspectRequest,
  type IntakeView,
  inspectRequestCodec,
  joined,
  type MaskSumOf,
  type ModelEntry,
  type Refused,
  type ReleaseRequest,
  releaseRequestCodec,
  type ShotUpload,
  type ShownUpload,
  shotLayout,
  shotProblem,
  shotUploadCodec,
  sumPlan,
  taskParts,
  uploadNameOf,
  type WantedSum,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import type { Released, ShotAuthority } from './shot-authority.ts';
import type { Shot, ShotIntake, WholeStage } from './shot-stage.ts';

/** The stage, with the authorities that the server asks. */
interface ServedStage extends WholeStage {
  authority(index: number): ShotAuthority;
}

type Changed<Request> = Partial<Omit<Request, 'signature'>> & { readonly signer?: Signer };

export class ShotServer implements ShotIntake {
  readonly world: ServedStage;
  readonly signer: Signer;
  readonly shots: Shot[] = [];
  readonly epochs = new Map<string, Epoch>();
  readonly models: ModelEntry[] = [];
  #batches = 0;

  constructor(world: ServedStage, signer: Signer) {
    this.world = world;
    this.signer = signer;
  }

  /** Remembers the statement of an epoch. */
  hear(epoch: Epoch): void {
    this.epochs.set(toHex(epochNameOf(this.world.environment.tools.suite, epoch).statement), epoch);
  }

  get view(): IntakeView {
    const { environment, task, policy, now } = this.world;
    return {
      suite: environment.tools.suite,
      task,
      policy,
      now,
      epoch: (statement) => this.epochs.get(toHex(statement)),
      entry: (version) => this.models.find((one) => one.version === version),
      newest: Math.max(...this.models.map(({ version }) => version)),
    };
  }

  take(sent: ShotUpload, body: Uint8Array): { readonly kind: 'accepted' } | Refused {
    const { suite } = this.world.environment.tools;
    const upload = shotUploadCodec.decode(shotUploadCodec.encode(sent));
    const problem = shotProblem(this.view, upload);
    if (problem !== undefined) return problem;
    const { bodyBytes } = shotLayout(this.world.policy, upload.header.epochs);
    if (body.length !== bodyBytes || !equalBytes(suite.sha256(body), upload.header.bodyHash))
      throw new Error('the body is not what the header says');
    const name = uploadNameOf(suite, upload.header);
    if (!this.shots.some((shot) => equalBytes(shot.name, name))) this.shots.push({ name, upload, body });
    return { kind: 'accepted' };
  }

  vectorOf({ upload, body }: Shot): Uint32Array {
    const { elements, vectorBytes } = shotLayout(this.world.policy, upload.header.epochs);
    const unpacked = unpackVector(body.subarray(0, vectorBytes), elements, this.world.policy.modulus);
    if (unpacked.kind === 'malformed') throw new Error('the vector is not canonical');
    return unpacked.vector;
  }

  shown({ upload, body }: Shot): ShownUpload {
    const { vectorBytes } = shotLayout(this.world.policy, upload.header.epochs);
    return { ...upload, sealed: body.slice(vectorBytes) };
  }

  epochsOf(shots: readonly Shot[]): readonly Epoch[] {
    return distinctEpochs(
      this.view,
      shots.map(({ upload }) => upload.header),
    );
  }

  inspectRequest(shots: readonly Shot[], { signer = this.signer, ...change }: Changed<InspectRequest> = {}) {
    const uploads = shots.map((shot) => this.shown(shot));
    const body = { task: this.world.task, epochs: this.epochsOf(shots), models: this.models, uploads, ...change };
    return { ...body, signature: signer.sign(inspectRequestCodec.statement(body)) };
  }

  inspectBy(index: number, shots: readonly Shot[], change?: Changed<InspectRequest>): InspectAnswer | Refused {
    return this.#at(index).inspect(inspectRequestCodec.encode(this.inspectRequest(shots, change)));
  }

  /** Has every upload inspected at every authority, and returns the server's verdicts. */
  inspect(shots: readonly Shot[] = this.shots): readonly GuardVerdict[] {
    const answers = this.world.indices.map((index) => granted(this.inspectBy(index, shots)));
    return shots.map((shot, n) => {
      const verdicts = answers.flatMap(({ verdicts: all }) => all[n] ?? []);
      return guardVerdict(this.world.policy, this.vectorOf(shot).subarray(0, 4), verdicts);
    });
  }

  batch(shots: readonly Shot[] = this.shots): Batch {
    return { task: this.world.task, number: this.#batches++, uploads: shots.map(({ name }) => name) };
  }

  voteRequest(batch: Batch, { signer = this.signer, ...change }: Changed<BatchVoteRequest> = {}) {
    const body = { batch, votes: [], models: [], ...change };
    return { ...body, signature: signer.sign(batchVoteRequestCodec.statement(body)) };
  }

  voteBy(index: number, batch: Batch, change?: Changed<BatchVoteRequest>): BatchVoteAnswer | Refused {
    return this.#at(index).vote(batchVoteRequestCodec.encode(this.voteRequest(batch, change)));
  }

  closing(batch: Batch): ClosingBatch {
    const { environment, task, policy } = this.world;
    const { suite } = environment.tools;
    const headers = this.#shotsOf(batch).map(({ upload }) => upload.header);
    return { suite, task, policy, ctx: batchCtxOf(suite, batch), headers };
  }

  /** The votes of these authorities. */
  votes(batch: Batch, indices: readonly number[] = this.world.indices): readonly Endorsement[] {
    const closing = this.closing(batch);
    const votes = indices.flatMap((index) => {
      const { vote } = granted(this.voteBy(index, batch));
      return vote === undefined ? [] : batchVote(closing, index, vote);
    });
    return joined(votes);
  }

  releaseRequest(batch: Batch, { signer = this.signer, ...change }: Changed<ReleaseRequest> = {}) {
    const shots = this.#shotsOf(batch);
    const uploads = shots.map((shot) => this.shown(shot));
    const body = { batch, votes: [], epochs: this.epochsOf(shots), uploads, wanted: [], ...change };
    return { ...body, signature: signer.sign(releaseRequestCodec.statement(body)) };
  }

  releaseBy(index: number, batch: Batch, change?: Changed<ReleaseRequest>): Released | Refused {
    return this.#at(index).release(releaseRequestCodec.encode(this.releaseRequest(batch, change)));
  }

  /** Releases every part at the authorities that must vouch for it. */
  release(batch: Batch, votes: readonly Endorsement[], without: readonly number[] = []): Uint32Array {
    const closing = this.closing(batch);
    const problem = batchProblem(this.world.policy, closing.headers);
    if (problem !== undefined) throw new Error(problem.reason);
    const plan = sumPlan(closing, batch.number, without);
    if (plan === undefined) throw new Error('too few authorities are left');
    const sums: MaskSumOf[] = [];
    const vectors = new Map<number, Uint8Array>();
    for (const { authority, wanted } of plan) {
      const { answer, vectors: sent } = granted(this.releaseBy(authority, batch, { votes, wanted }));
      sums.push(...answer.sums.map((sum) => ({ authority, sum })));
      const parts = wanted.filter(({ vector }: WantedSum) => vector).map(({ part }) => part);
      for (const [n, part] of parts.entries()) vectors.set(part, sent[n] as Uint8Array);
    }
    return this.#opened(batch, sums, vectors);
  }

  #opened(batch: Batch, sums: readonly MaskSumOf[], vectors: ReadonlyMap<number, Uint8Array>): Uint32Array {
    const { policy, environment } = this.world;
    const { kernel, suite } = environment.tools;
    const { elements } = shotLayout(policy, []);
    const total = new Uint32Array(elements);
    for (const shot of this.#shotsOf(batch)) addInPlace(total, this.vectorOf(shot), policy.modulus, kernel);
    for (const part of taskParts(policy)) {
      const packed = vectors.get(part) as Uint8Array;
      const agreed = agreedSum(this.closing(batch), part, sums);
      if (agreed === undefined || !equalBytes(agreed, suite.sha256(packed))) throw new Error('no agreed sum');
      const unpacked = unpackVector(packed, elements, policy.modulus);
      if (unpacked.kind === 'malformed') throw new Error('not canonical');
      subtractInPlace(total, unpacked.vector, policy.modulus, kernel);
    }
    return total;
  }

  #at(index: number): ShotAuthority {
    return this.world.authority(index);
  }

  #shotsOf({ uploads }: Batch): readonly Shot[] {
    return uploads.map((name) => {
      const shot = this.shots.find((one) => equalBytes(one.name, name));
      if (shot === undefined) throw new Error('no such upload');
      return shot;
    });
  }
}
