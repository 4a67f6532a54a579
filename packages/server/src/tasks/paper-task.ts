/**
 * A task in the paper's own mode over the network: one user at a time holds the position (Algorithm 1). UNSAFE, see
 * docs/threat-model.md; only with the option `unsafePaperMode`. State and running sum are durable before each answer.
 */
import { addInPlace, dequantizeSum, fromHex, plainVectorKernel, toHex, unpackVector } from '@basa/masking';
import { type Ctx, millis, type Refused, refused, type UserId } from '@basa/protocol';
import { type PaperConnection, PaperServer, type PaperUpload } from '@basa/protocol/paper';
import { type Certificate, Devices } from '@basa/protocol/wire';
import { createWasmVectorKernel, nodeRandomBytes } from '@basa/runtime/node';
import { readWhole } from '../blobs/blob-store.ts';
import type { TaskContext } from '../shots/context.ts';

/** The durable state of a buffer, without its running sum. */
interface Snapshot {
  readonly ctx: string;
  readonly version: number;
  readonly position: number;
  readonly lease: { readonly user: string; readonly until: number } | null;
  readonly inboxes: readonly (readonly string[])[];
  readonly users: readonly string[];
  readonly alphaSum: number;
}

export class PaperTask {
  readonly #context: TaskContext;
  readonly #kernel = createWasmVectorKernel() ?? plainVectorKernel();
  #buffer: PaperServer.PaperBuffer | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(context: TaskContext) {
    this.#context = context;
  }

  connect(certificate: Certificate): Promise<PaperConnection | Refused> {
    const { ports } = this.#context;
    const user = Devices.userIdOf(ports.suite, certificate.deviceKey);
    return this.#alone(async () => {
      const buffer = await this.#open();
      const { state, answer } = PaperServer.connectPaper(ports, buffer, user, this.#now());
      if (state !== buffer) await this.#keep(state);
      return answer;
    });
  }

  /** `packed` is y_k; a late one is discarded. */
  upload(user: UserId, upload: PaperUpload, packed: Uint8Array): Promise<{ readonly kind: 'accepted' } | Refused> {
    return this.#alone(async () => {
      const { dimension, modulus } = this.#context.read.policy;
      const buffer = await this.#open();
      const { state, answer } = PaperServer.acceptPaperUpload(buffer, user, upload, this.#now());
      if (answer.kind === 'refused' || answer.isRepeat) {
        if (state !== buffer) await this.#keep(state);
        return answer.kind === 'refused' ? answer : { kind: 'accepted' };
      }
      const unpacked = unpackVector(packed, dimension, modulus, this.#kernel);
      if (unpacked.kind === 'malformed') return refused('body-mismatch', { detail: unpacked.problem });
      const sum = await this.#sum(buffer);
      addInPlace(sum, unpacked.vector, modulus, this.#kernel);
      await this.#context.blobs.put(this.#sumKey(state), bytesOf(sum));
      await this.#keep(state);
      if (answer.isFull) await this.#finish(state, sum);
      return { kind: 'accepted' };
    });
  }

  tick(): Promise<void> {
    return this.#alone(async () => {
      const buffer = await this.#open();
      const { state } = PaperServer.tickPaper(buffer, this.#now());
      if (state !== buffer) await this.#keep(state);
    });
  }

  /** w <- w - eta_g * sum y / K (Algorithm 3), or / sum alpha (the text), and fresh attributes. */
  async #finish(buffer: PaperServer.PaperBuffer, sum: Uint32Array): Promise<void> {
    const { models, read, onIncluded, blobs } = this.#context;
    const { level, modulus } = read.policy;
    const isByWeights = read.specification.divideBy === 'weights';
    const weightSum = isByWeights ? buffer.alphaSum : buffer.position;
    const mean = dequantizeSum(sum, { level, modulus }, { weightSum, weightScale: 1 });
    const made =
      (await models.of(buffer.ctx)) ??
      (await models.make({ sums: [buffer.ctx], spoilt: [] }, async () => ({
        mean: inOnePiece(mean),
        counts: { accepted: buffer.position, dropped: 0 },
      })));
    await models.refresh();
    await this.#keep(this.#fresh(made.version));
    await blobs.remove(this.#sumKey(buffer));
    await onIncluded();
  }

  /** Continues after a crash or a failure: also a full buffer whose model was not made. */
  async #open(): Promise<PaperServer.PaperBuffer> {
    const { store, read, models } = this.#context;
    if (this.#buffer === undefined) {
      const note = await store.note(this.#noteName());
      this.#buffer = note === undefined ? this.#fresh(models.newest?.version ?? 0) : this.#restore(note);
    }
    const { bufferSize } = read.policy;
    if (this.#buffer.position === bufferSize) await this.#finish(this.#buffer, await this.#sum(this.#buffer));
    return this.#buffer;
  }

  #fresh(version: number): PaperServer.PaperBuffer {
    return PaperServer.unsafePaperBuffer(this.#paperOptions(), nodeRandomBytes(32) as Ctx, version);
  }

  #paperOptions() {
    const { bufferSize, uploadLeaseMs } = this.#context.read.policy;
    return { bufferSize, leaseMs: uploadLeaseMs };
  }

  #restore(note: Uint8Array): PaperServer.PaperBuffer {
    const kept = JSON.parse(new TextDecoder().decode(note)) as Snapshot;
    const bytes = (text: string): Uint8Array => fromHex(text) ?? new Uint8Array();
    const { lease } = kept;
    return {
      options: this.#paperOptions(),
      ctx: bytes(kept.ctx) as Ctx,
      version: kept.version,
      position: kept.position as PaperServer.PaperBuffer['position'],
      inboxes: kept.inboxes.map((inbox) => inbox.map(bytes)),
      users: kept.users.map((user) => bytes(user) as UserId),
      alphaSum: kept.alphaSum,
      lease: lease === null ? undefined : { user: bytes(lease.user) as UserId, until: millis(lease.until) },
    };
  }

  async #keep(buffer: PaperServer.PaperBuffer): Promise<void> {
    const { ctx, version, position, lease, inboxes, users, alphaSum } = buffer;
    const snapshot: Snapshot = {
      ctx: toHex(ctx),
      version,
      position,
      lease: lease === undefined ? null : { user: toHex(lease.user), until: lease.until },
      inboxes: inboxes.map((inbox) => inbox.map(toHex)),
      users: users.map(toHex),
      alphaSum,
    };
    await this.#context.store.setNote(this.#noteName(), new TextEncoder().encode(JSON.stringify(snapshot)));
    const before = this.#buffer;
    this.#buffer = buffer;
    const isNext = before !== undefined && before.position > 0 && before.position < buffer.position;
    if (isNext) await this.#context.blobs.remove(this.#sumKey(before));
  }

  async #sum(buffer: PaperServer.PaperBuffer): Promise<Uint32Array> {
    if (buffer.position === 0) return new Uint32Array(this.#context.read.policy.dimension);
    return new Uint32Array((await readWhole(this.#context.blobs, this.#sumKey(buffer))).slice().buffer);
  }

  #sumKey({ ctx, position }: PaperServer.PaperBuffer): string {
    return `paper/${toHex(this.#context.task)}/${toHex(ctx).slice(0, 32)}-${position}`;
  }

  #noteName(): string {
    return `paper-${toHex(this.#context.task)}`;
  }

  #now() {
    return millis(this.#context.clock());
  }

  /** One at a time: the paper's server is serial. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

async function* inOnePiece(mean: Float32Array): AsyncGenerator<Float32Array> {
  yield mean;
}
