/**
 * What an authority of a world is asked over HTTP: by the server of its task, with any change that a test makes in a request, by devices,
 * and by its owner. The uploads are those of the SDK; the real server of the world never gets them.
 */
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { addInPlace, plainVectorKernel, type Signer, subtractInPlace, toHex, unpackVector } from '@basa/masking';
import { type Ctx, granted, type Refused } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { problemCodeOf } from '@basa/protocol/internal/http/problems.ts';
import {
  agreedSum,
  batchVote,
  type ClosingBatch,
  type MaskSumOf,
  sumPlan,
} from '@basa/protocol/internal/one-shot/server.ts';
import { joined } from '@basa/protocol/internal/wire/council.ts';
import {
  type Batch,
  BatchVoteRequest,
  batchCtxOf,
  batchOf,
  type Endorsement,
  type Epoch,
  epochNameOf,
  InspectAnswer,
  InspectRequest,
  LiveEpochs,
  ReleaseAnswer,
  ReleaseRequest,
  type ShotUpload,
  type ShownUpload,
  shotLayout,
  unframeHeader,
  uploadNameOf,
  Vote,
} from '@basa/protocol/wire';
import { createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import type { Changed } from '@basa/simulator';
import { asOperator } from './operator.ts';
import { type SceneOptions, ShotScene } from './shots.ts';
import type { World } from './world.ts';

const kernel = createWasmVectorKernel() ?? plainVectorKernel();

/** An upload as the server would have it. */
export interface GivenShot {
  readonly name: Ctx;
  readonly upload: ShotUpload;
  readonly body: Uint8Array;
  readonly device: ReturnType<typeof signingDevice>;
}

/** The sums of masks of an answer, and the vectors behind them in one piece. */
export interface ReleasedBytes {
  readonly answer: ReleaseAnswer;
  readonly vectors: Uint8Array;
}

export interface Told {
  readonly status: number;
  readonly bytes: Uint8Array;
  /** Of a problem document. */
  readonly code: string | undefined;
  json(): Readonly<Record<string, unknown>>;
}

/** How a request is sent, if not by the server of the task with its own signature. */
interface Sent {
  readonly index?: number;
  readonly method?: string;
  readonly at?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

export class AuthorityScene {
  readonly world: World;
  /** In the order of a batch. */
  readonly shots: GivenShot[] = [];
  readonly #scene: ShotScene;
  readonly #epochs = new Map<string, Epoch>();

  private constructor(scene: ShotScene) {
    this.#scene = scene;
    this.world = scene.world;
    this.world.wire.readers.push(({ path }, { status, body }) => {
      if (status === 200 && path.endsWith('/epochs'))
        for (const epoch of LiveEpochs.decode(body).epochs)
          this.#epochs.set(toHex(epochNameOf(nodeSuite, epoch).statement), epoch);
      return undefined;
    });
  }

  static async open(count: number, options: SceneOptions = {}): Promise<AuthorityScene> {
    const policy = { minimum: 2, bufferSize: 10, dimension: 8, level: 1, clip: 1, ...options.policy };
    const scene = new AuthorityScene(await ShotScene.open({ ...options, policy }));
    for (const index of scene.world.authorities.keys()) await scene.epoch(index);
    await scene.give(count);
    return scene;
  }

  /** As many new devices give an update on the newest model. Returns their uploads in the order of a batch. */
  async give(count: number): Promise<readonly GivenShot[]> {
    const fresh: GivenShot[] = [];
    for (let n = 0; n < count; n++) {
      const { device, upload, body } = await this.#scene.shot();
      fresh.push({ device, upload, body, name: uploadNameOf(nodeSuite, upload.header) });
    }
    this.shots.push(...fresh);
    const byName = (one: GivenShot, other: GivenShot): number => Buffer.compare(one.name, other.name);
    this.shots.sort(byName);
    return fresh.sort(byName);
  }

  /** The newest epoch of an authority. */
  async epoch(index = 0): Promise<Epoch> {
    const { bytes } = await this.ask(AUTHORITY_PATH.epochs(this.world.task), undefined, { index });
    return LiveEpochs.decode(bytes).epochs.at(-1) as Epoch;
  }

  /** Sends a request without a signature. */
  async ask(path: string, body?: Uint8Array | object, { index = 0, method, headers }: Sent = {}): Promise<Told> {
    const { host } = this.#party(index);
    const isBytes = body instanceof Uint8Array;
    const answer = await this.world.wire.ask({
      host,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      path,
      headers: {
        ...(body !== undefined && { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
        ...headers,
      },
      body: isBytes || body === undefined ? body : Buffer.from(JSON.stringify(body)),
    });
    return told(answer.status, answer.body);
  }

  /** Sends a request of the owner. */
  async operate(method: string, path: string, body?: object, index = 0): Promise<Told> {
    const answer = await asOperator(this.world.wire.fetch, method, new URL(path, this.#party(index).url), body);
    return told(answer.status, new Uint8Array(await answer.arrayBuffer()));
  }

  /** Sends a request that this device, or server, signs. */
  askAs(device: Pick<GivenShot['device'], 'headers'>, path: string, body: Uint8Array | object, sent: Sent = {}) {
    const { index = 0, at = this.world.now, headers } = sent;
    const bytes = body instanceof Uint8Array ? body : Buffer.from(JSON.stringify(body));
    const signed = { audience: this.#party(index).publicKey, method: 'POST', target: path, body: bytes, at };
    return this.ask(path, body, { index, headers: { ...device.headers(signed), ...headers } });
  }

  /** Registers tokens for devices. Returns the proofs that they show this authority. */
  async register(count = 1, endsAt = this.world.now + 1000): Promise<readonly string[]> {
    const proofs = Array.from({ length: count }, () => nodeRandomBytes(32));
    const hashes = proofs.map((proof) => toHex(nodeSuite.sha256(proof)));
    if (count === 0) return [];
    const { status } = await this.operate('POST', AUTHORITY_PATH.tokens(this.world.task), { hashes, endsAt });
    if (status !== 200) throw new Error(`tokens were refused with ${status}`);
    return proofs.map(toHex);
  }

  shown({ upload, body }: GivenShot): ShownUpload {
    const { certificate, header } = upload;
    return { certificate, header, sealed: body.slice(shotLayout(this.world.policy, header.epochs).vectorBytes) };
  }

  epochsOf(shots: readonly GivenShot[]): readonly Epoch[] {
    const named = shots.flatMap(({ upload }) => upload.header.epochs.map(({ statement }) => toHex(statement)));
    return [...this.#epochs].flatMap(([statement, epoch]) => (named.includes(statement) ? [epoch] : []));
  }

  batch(shots: readonly GivenShot[] = this.shots): Batch {
    return batchOf(
      this.world.taskId,
      shots.map(({ name }) => name),
    );
  }

  inspectRequest(shots: readonly GivenShot[], { signer, ...change }: Changed<InspectRequest> = {}): Uint8Array {
    const uploads = shots.map((shot) => this.shown(shot));
    const body = { task: this.world.taskId, epochs: this.epochsOf(shots), uploads, ...change };
    return InspectRequest.encode({ ...body, signature: this.#sign(signer, InspectRequest.statement(body)) });
  }

  voteRequest(batch: Batch, { signer, ...change }: Changed<BatchVoteRequest> = {}): Uint8Array {
    const body = { batch, ...change };
    const signature = this.#sign(signer, BatchVoteRequest.statement(body));
    return BatchVoteRequest.encode({ ...body, signature });
  }

  releaseRequest(batch: Batch, { signer, ...change }: Changed<ReleaseRequest> = {}): Uint8Array {
    const shots = this.#shotsOf(batch);
    const uploads = shots.map((shot) => this.shown(shot));
    const body = { batch, votes: [], epochs: this.epochsOf(shots), uploads, wanted: [], ...change };
    return ReleaseRequest.encode({ ...body, signature: this.#sign(signer, ReleaseRequest.statement(body)) });
  }

  /** As the server of the task. */
  asServer(path: string, request: Uint8Array, index = 0): Promise<Told> {
    return this.askAs(signingDevice(this.world.serverSigner), path, request, { index });
  }

  async inspectBy(index: number, shots: readonly GivenShot[], change?: Changed<InspectRequest>) {
    const answer = await this.asServer(this.#path('inspections'), this.inspectRequest(shots, change), index);
    return decoded<InspectAnswer>(answer, InspectAnswer.decode);
  }

  async voteBy(index: number, batch: Batch, change?: Changed<BatchVoteRequest>): Promise<Vote | Refused> {
    const answer = await this.asServer(this.#path('batchVotes'), this.voteRequest(batch, change), index);
    return decoded(answer, Vote.decode);
  }

  async releaseBy(index: number, batch: Batch, change?: Changed<ReleaseRequest>): Promise<ReleasedBytes | Refused> {
    const answer = await this.asServer(this.#path('releases'), this.releaseRequest(batch, change), index);
    return decoded(answer, (bytes) => {
      const { header, bodyStart } = unframeHeader(bytes, 65_536);
      return { answer: ReleaseAnswer.decode(header), vectors: bytes.subarray(bodyStart) };
    });
  }

  closing(batch: Batch): ClosingBatch {
    const { taskId: task, policy } = this.world;
    const headers = this.#shotsOf(batch).map(({ upload }) => upload.header);
    return { suite: nodeSuite, task, policy, ctx: batchCtxOf(nodeSuite, batch), headers };
  }

  /** These authorities inspect the uploads, then vote for them. */
  async votes(batch: Batch, indices: Iterable<number> = this.world.authorities.keys()) {
    const votes: Endorsement[] = [];
    for (const index of indices) {
      granted(await this.inspectBy(index, this.#shotsOf(batch)));
      votes.push(...batchVote(this.closing(batch), index, granted(await this.voteBy(index, batch))));
    }
    return joined(votes);
  }

  /** The sum of the inputs, after all sums of masks were agreed on and taken off. */
  async opened(batch: Batch, votes: readonly Endorsement[]): Promise<Uint32Array> {
    const { policy } = this.world;
    const { vectorBytes } = shotLayout(policy, []);
    const closing = this.closing(batch);
    const total = new Uint32Array(shotLayout(policy, []).elements);
    for (const shot of this.#shotsOf(batch)) addInPlace(total, this.unpacked(shot.body), policy.modulus, kernel);
    const sums: MaskSumOf[] = [];
    const hashes = new Map<number, Uint8Array>();
    for (const { authority, wanted } of sumPlan(closing, 0) ?? []) {
      const { answer, vectors } = granted(await this.releaseBy(authority, batch, { votes, wanted }));
      sums.push(...answer.sums.map((sum) => ({ authority, sum })));
      for (const [n, { part }] of wanted.filter(({ vector }) => vector).entries()) {
        const packed = vectors.slice(n * vectorBytes, (n + 1) * vectorBytes);
        hashes.set(part, nodeSuite.sha256(packed));
        subtractInPlace(total, this.unpacked(packed), policy.modulus, kernel);
      }
    }
    for (const [part, hash] of hashes) {
      const agreed = agreedSum(closing, part, sums);
      if (agreed === undefined || Buffer.compare(agreed, hash) !== 0) throw new Error(`part ${part} is not agreed on`);
    }
    return total;
  }

  /** The vector at the beginning of these bytes. */
  unpacked(bytes: Uint8Array): Uint32Array {
    const { policy } = this.world;
    const { elements, vectorBytes } = shotLayout(policy, []);
    const unpacked = unpackVector(bytes.subarray(0, vectorBytes), elements, policy.modulus, kernel);
    if (unpacked.kind !== 'vector') throw new Error(unpacked.problem);
    return unpacked.vector;
  }

  close(): Promise<void> {
    return this.world.close();
  }

  #path(name: 'inspections' | 'batchVotes' | 'releases'): string {
    return AUTHORITY_PATH[name](this.world.taskId);
  }

  #party(index: number) {
    const party = this.world.authorities[index];
    if (party === undefined) throw new RangeError(`there is no authority ${index}`);
    return party;
  }

  #shotsOf({ uploads }: Batch): readonly GivenShot[] {
    const wanted = new Set(uploads.map(toHex));
    return this.shots.filter(({ name }) => wanted.has(toHex(name)));
  }

  #sign(signer: Signer = this.world.serverSigner, statement: Uint8Array): Uint8Array {
    return signer.sign(statement);
  }
}

function told(status: number, bytes: Uint8Array): Told {
  const json = () => JSON.parse(Buffer.from(bytes).toString('utf8')) as Record<string, unknown>;
  return { status, bytes, code: status < 400 ? undefined : problemCodeOf(json()), json };
}

/** A refusal over HTTP as the core says it. */
function decoded<Answer>({ status, bytes, code, json }: Told, decode: (bytes: Uint8Array) => Answer): Answer | Refused {
  if (status === 200) return decode(bytes);
  const { uploads, detail } = json();
  return { kind: 'refused', reason: code, uploads, detail } as Refused;
}
