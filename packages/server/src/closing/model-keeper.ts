/** The versions of a task's model: durable first, with the sums that they are made of, then given to users. */
import { createHash } from 'node:crypto';
import { createServerStep, initialParameters, type ServerStepOptions } from '@basa/learning';
import { equalBytes, fromHex, toHex } from '@basa/masking';
import type { Ctx, TaskId } from '@basa/protocol';
import type { ServerRole } from '@basa/protocol/one-shot';
import { ModelStatement, signStatement } from '@basa/protocol/wire';
import { nodeRandomBytes } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import { type BlobStore, collect, readWhole } from '../blobs/blob-store.ts';
import type { Nodes } from '../nodes/nodes.ts';
import type { ReadTask } from '../specification/task-specification.ts';
import type { FreshModel, StoredModel, SumsOfVersion } from '../store/models.ts';
import type { Fence } from '../store/sql.ts';
import type { Store } from '../store/store.ts';

export interface ModelContext {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ports: ServerRole.ServerPorts;
  readonly nodes: Pick<Nodes, 'upToDate'>;
}

/** The input of the next version. */
export interface Making {
  readonly mean: AsyncIterable<Float32Array | Float64Array>;
  readonly counts: Counts;
  /** The mean age of its updates in versions; missing in the paper's mode, which damps single updates. */
  readonly meanAge?: number | undefined;
  readonly metrics?: Readonly<Record<string, number>> | undefined;
}

/** The number of updates in a version, and the number of dropped ones. */
export interface Counts {
  readonly accepted: number;
  readonly dropped: number;
}

const NOTHING: SumsOfVersion = { sums: [], spoilt: [] };
const NONE: Counts = { accepted: 0, dropped: 0 };

/** The prefix of the models of all tasks, by the name of the task. */
export const MODELS = 'models';

/** The prefix of the versions of a task; each name begins with its number. */
export function modelsOf(task: TaskId): string {
  return `${MODELS}/${toHex(task)}`;
}

/** The prefix of first parameters whose task is about to be created. */
export const FIRST = 'first';

/** By their hash. */
export function firstOf(sha256: string): string {
  return `${FIRST}/${sha256}`;
}

export class ModelKeeper {
  readonly #context: ModelContext;
  /** The newest version users may have. */
  #newest: StoredModel | undefined;
  #opening: Promise<void> | undefined;

  constructor(context: ModelContext) {
    this.#context = context;
  }

  get newest(): StoredModel | undefined {
    return this.#newest;
  }

  /** The same, from the store's current state. */
  async current(): Promise<StoredModel | undefined> {
    return this.#context.nodes.upToDate(this.#newest, async () => {
      await this.refresh();
      return this.#newest;
    });
  }

  /** Makes version 0 if there is no version, or continues after a crash. Only one call at a time. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { store, task } = this.#context;
    if ((await store.model(task, 0)) === undefined) await this.#add(0, NOTHING, this.#first(), { counts: NONE });
    await this.refresh();
  }

  /** Reads the newest version from the store. */
  async refresh(): Promise<void> {
    const { store, task } = this.#context;
    this.#newest = await store.newestModel(task);
  }

  /** Returns the version that includes the sum, or leaves it out. */
  of(ctx: Ctx): Promise<StoredModel | undefined> {
    return this.#context.store.modelOf(ctx);
  }

  /** The version with this name; another node may have made it. */
  async named(name: Uint8Array): Promise<StoredModel | undefined> {
    const { store, task } = this.#context;
    if (this.#newest !== undefined && equalBytes(this.#newest.name, name)) return this.#newest;
    const found = await store.modelNamed(task, name);
    if (found !== undefined && found.version > (this.#newest?.version ?? -1)) await this.refresh();
    return found;
  }

  /** The statement that devices get. */
  statementOf({ version, serial, modelHash }: StoredModel): ModelStatement {
    const { task, ports } = this.#context;
    return signStatement(ModelStatement, ports.signer, { task, version, serial, modelHash });
  }

  /** Throws if the bytes of the newest version are gone. */
  async checkNewest(): Promise<void> {
    const { newest } = this;
    if (newest !== undefined && (await this.#context.blobs.size(newest.blobKey)) === undefined)
      throw new StartError('dataFolder', `version ${newest.version} of a model is missing; restore the newest backup`);
  }

  /** w^(t+1) of a mean that comes in shards, durable: only one shard is in memory at a time. */
  async make(
    named: SumsOfVersion,
    makingAt: (version: number) => Promise<Making>,
    fence?: Fence | undefined,
  ): Promise<StoredModel> {
    const newest = await this.#before();
    const making = await makingAt(newest.version);
    return this.#add(newest.version + 1, named, this.#stepped(newest, making), { ...making, fence });
  }

  /** True if the next version has the same parameters: no sum on this one may be used, because devices give on both. */
  async isRepeated(version: number): Promise<boolean> {
    if (version >= (this.#newest?.version ?? 0)) return false;
    const { store, task } = this.#context;
    const [one, next] = [await store.model(task, version), await store.model(task, version + 1)];
    return one !== undefined && next !== undefined && equalBytes(one.modelHash, next.modelHash);
  }

  /** Repeats the newest version under the next number. */
  async repeat(fence: Fence | undefined): Promise<StoredModel> {
    const newest = await this.#before();
    return this.#add(newest.version + 1, NOTHING, this.#copied(newest), { counts: NONE, fence });
  }

  async #before(): Promise<StoredModel> {
    await this.refresh(); // another node may have made one
    if (this.#newest === undefined) throw new Error('a sum before the first model');
    return this.#newest;
  }

  async *#copied(before: StoredModel): AsyncGenerator<Stepped> {
    const { dimension } = this.#context.read.policy;
    const part = await this.#partsOf(before);
    for (let at = 0; at < dimension; at += MAX_SHARD_ELEMENTS) {
      const { parameters, memory = new Float64Array() } = await part(at, Math.min(dimension, at + MAX_SHARD_ELEMENTS));
      yield { parameters, memory };
    }
  }

  async *#stepped(before: StoredModel, { mean, meanAge }: Making): AsyncGenerator<Stepped> {
    const { read } = this.#context;
    const part = await this.#partsOf(before);
    let at = 0;
    for await (const shard of mean) {
      const { parameters, memory } = await part(at, at + shard.length);
      const step = createServerStep(read.serverStep as ServerStepOptions, memory);
      step.applyInPlace(parameters, shard, meanAge);
      yield { parameters, memory: step.memory() };
      at += shard.length;
    }
    if (at !== read.policy.dimension) throw new Error(`${at} coordinates for the version after ${before.version}`);
  }

  /** Reads parts of a version; `memory` is undefined if its step has none. */
  async #partsOf({ blobKey, stepKey }: StoredModel) {
    const { blobs, read } = this.#context;
    const numbers = stepKey === undefined ? 0 : ((await blobs.size(stepKey)) ?? 0) / 8 / read.policy.dimension;
    const bytes = (key: string, start: number, end: number) => collect(blobs.read(key, start, end), end - start);
    return async (from: number, to: number) => ({
      parameters: floatsOf(await bytes(blobKey, 4 * from, 4 * to)),
      memory: stepKey === undefined ? undefined : doublesOf(await bytes(stepKey, 8 * numbers * from, 8 * numbers * to)),
    });
  }

  async parameters(version: number): Promise<Float32Array> {
    const model = await this.#context.store.model(this.#context.task, version);
    if (model === undefined) throw new Error(`there is no version ${version}`);
    return floatsOf(await readWhole(this.#context.blobs, model.blobKey));
  }

  /** Blob names depend on the sums of the version, so no node overwrites or removes another's. */
  async #add(
    version: number,
    named: SumsOfVersion,
    shards: AsyncIterable<Stepped>,
    { counts, fence, meanAge, metrics }: Omit<Making, 'mean'> & { readonly fence?: Fence | undefined },
  ): Promise<StoredModel> {
    const { store, blobs, ports, task } = this.#context;
    const blobKey = `${modelsOf(task)}/${version}-${nameOf(named)}`;
    const stepKey = `${blobKey}-step`;
    const attempt = toHex(nodeRandomBytes(8));
    const [model, step] = [await blobs.stage(blobKey, attempt), await blobs.stage(stepKey, attempt)];
    const hash = createHash('sha256');
    let hasMemory = false;
    try {
      for await (const { parameters, memory } of shards) {
        hash.update(bytesOfWords(parameters));
        await model.append(bytesOfWords(parameters));
        await step.append(bytesOfWords(memory));
      }
      hasMemory = step.size > 0;
      if (hasMemory) await step.commit();
      await model.commit();
    } catch (error) {
      await model.discard();
      throw error;
    } finally {
      if (!hasMemory) await step.discard();
      await Promise.all([model.close(), step.close()]);
    }
    const modelHash = new Uint8Array(hash.digest());
    const made: FreshModel = {
      task,
      version,
      modelHash,
      blobKey,
      madeAt: await store.now(),
      ...counts,
      stepKey: hasMemory ? stepKey : undefined,
      meanAge,
      metrics,
    };
    return store.addModel(ports.suite, made, named, fence);
  }

  async *#first(): AsyncGenerator<Stepped> {
    const { read } = this.#context;
    const { parameters, seed = 0, sha256 } = read.specification.initial ?? {};
    const memory = new Float64Array();
    const { dimension } = read.policy;
    if (sha256 !== undefined)
      for (let from = 0; from < dimension; from += MAX_SHARD_ELEMENTS) {
        const [start, end] = [4 * from, 4 * Math.min(dimension, from + MAX_SHARD_ELEMENTS)];
        const bytes = await collect(this.#context.blobs.read(firstOf(sha256), start, end), end - start);
        yield { parameters: floatsOf(bytes), memory };
      }
    else if (parameters !== undefined) yield { parameters: floatsOf(fromHex(parameters) ?? new Uint8Array()), memory };
    else if (read.model !== undefined) yield { parameters: initialParameters(read.model, seed), memory };
    else
      for (let left = dimension; left > 0; left -= MAX_SHARD_ELEMENTS)
        yield { parameters: new Float32Array(Math.min(left, MAX_SHARD_ELEMENTS)), memory };
  }
}

/** A part of a model, and the memory of the server's step for that part. */
interface Stepped {
  readonly parameters: Float32Array;
  readonly memory: Float64Array;
}

function nameOf({ sums, spoilt }: SumsOfVersion): string {
  const hash = createHash('sha256');
  for (const ctx of [...sums, ...spoilt]) hash.update(ctx);
  return hash.digest('hex').slice(0, 32);
}

/** Parameters and means as bytes: stored, sent and hashed as little-endian words, the order of every machine with wasm. */
export function bytesOfWords(words: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

export function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}

export function doublesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice().buffer);
}

/** 4 MiB of words: memory grows with the workers, not with the model. */
export const MAX_SHARD_ELEMENTS = 1 << 20;
/** A shard prepares every mask again; for fewer elements that is most of its work. */
const MIN_SHARD_ELEMENTS = 1 << 16;
/** Shards begin at a whole byte for any number of bits per element, and at a position at which the keystream can start. */
const STEP = 1024;
/** Two for each worker: a slower one delays the others by at most half of its part. */
const SHARDS_PER_WORKER = 2;
/** Later shards need the words before the coordinates: if several workers wait for them, they come from a small shard. */
const FIRST_ELEMENTS = 4096;

export interface Shard {
  readonly from: number;
  readonly to: number;
}

/** Cuts a sum into shards, so that every worker has its part, and none exceeds its memory limit. */
export function shardsOf(elements: number, workers: number): readonly Shard[] {
  const fair = Math.ceil((elements - FIRST_ELEMENTS) / (SHARDS_PER_WORKER * workers * STEP)) * STEP;
  const most = workers === 1 ? MAX_SHARD_ELEMENTS : clamp(fair, MIN_SHARD_ELEMENTS, MAX_SHARD_ELEMENTS);
  const shards: Shard[] = [];
  for (let from = 0; from < elements; ) {
    const size = from === 0 && workers > 1 && elements > most ? FIRST_ELEMENTS : most;
    const to = Math.min(elements, from + size);
    shards.push({ from, to });
    from = to;
  }
  return shards;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(most, Math.max(least, value));
}
