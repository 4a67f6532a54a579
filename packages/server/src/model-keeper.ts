/** The versions of a task's model: durable first, then logged at the authority, then given to users. */
import type { ServerStepOptions } from '@basa/learning';
import { createServerStep, initialParameters } from '@basa/learning';
import { equalBytes, fromHex, toHex } from '@basa/masking';
import type { Ctx, ModelEntry, TaskId } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { StartError } from '@basa/service';
import type { AuthorityLink } from './authority-link.ts';
import type { BlobStore } from './blobs/blob-store.ts';
import { readWhole } from './blobs/blob-store.ts';
import type { Fence, Store, StoredModel } from './store/store.ts';
import type { ReadTask } from './task-specification.ts';

export interface ModelKeeperOptions {
  readonly task: TaskId;
  readonly read: ReadTask;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly authority: AuthorityLink;
  /** Other nodes make versions as well. */
  readonly isShared: boolean;
}

interface Making {
  readonly counts: { readonly accepted: number; readonly dropped: number };
  /** The turn that it is made under. */
  readonly fence?: Fence | undefined;
}

const NO_BUFFER = new Uint8Array(32) as Ctx;

export class ModelKeeper {
  readonly #options: ModelKeeperOptions;
  /** The newest version users may have. */
  #newest: StoredModel | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: ModelKeeperOptions) {
    this.#options = options;
  }

  get newest(): StoredModel | undefined {
    return this.#newest;
  }

  /** The same as it is in the store now. */
  async current(): Promise<StoredModel | undefined> {
    if (this.#options.isShared) await this.refresh();
    return this.#newest;
  }

  /** Makes version 0 where there is none, and takes up where a crash left it; once at a time. */
  open(): Promise<void> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const { store, task } = this.#options;
    if ((await store.model(task, 0)) === undefined)
      await this.#add(0, NO_BUFFER, { parameters: this.#first() }, { counts: { accepted: 0, dropped: 0 } });
    const first = await store.model(task, 0);
    if (first !== undefined && first.entry === undefined) await store.logFirstModel(await this.#append(first));
    await this.refresh();
  }

  /** Reads what is newest from the store. */
  async refresh(): Promise<void> {
    const { store, task, read } = this.#options;
    // The paper knows no log of models: its buffers are nothing to the authority.
    this.#newest = await store.newestModel(task, read.mode === 'paper' ? 'any' : 'logged');
  }

  /** The version made of this buffer's sum, logged or not. */
  of(ctx: Ctx): Promise<StoredModel | undefined> {
    return this.#options.store.modelOf(ctx);
  }

  /** Whether the version of another buffer waits to be logged: no other one can be made before. */
  async isHeldUpBy(ctx: Ctx): Promise<boolean> {
    const last = await this.#options.store.newestModel(this.#options.task, 'any');
    return last !== undefined && last.entry === undefined && !equalBytes(last.ctx, ctx);
  }

  /** Whether the version and hash a buffer is drawn for are ours: an authority that forgot some knows others. */
  async has({ version, modelHash }: Pick<ModelEntry, 'version' | 'modelHash'>): Promise<boolean> {
    const model = await this.#options.store.model(this.#options.task, version);
    return model !== undefined && equalBytes(model.modelHash, modelHash);
  }

  /** Throws where the bytes of the newest version are gone. */
  async checkNewest(): Promise<void> {
    const { newest } = this;
    if (newest !== undefined && (await this.#options.blobs.size(newest.blobKey)) === undefined)
      throw new StartError('dataFolder', `version ${newest.version} of a model is missing; restore the newest backup`);
  }

  /** Removes the parameters of a version that came to nothing. */
  async discard({ blobKey }: StoredModel): Promise<void> {
    await this.#options.blobs.remove(blobKey);
  }

  /** w^(t+1) of a mean, durable and not logged yet. */
  async make(ctx: Ctx, mean: Float32Array, made: Making): Promise<StoredModel> {
    await this.refresh(); // another node may have made one
    const { newest } = this;
    if (newest === undefined) throw new Error('a sum before the first model');
    const { blobs, read } = this.#options;
    const parameters = floatsOf(await readWhole(blobs, newest.blobKey));
    const memory = newest.stepKey === undefined ? undefined : doublesOf(await readWhole(blobs, newest.stepKey));
    const step = createServerStep(read.serverStep as ServerStepOptions, memory);
    step.applyInPlace(parameters, mean);
    return this.#add(newest.version + 1, ctx, { parameters, memory: step.memory() }, made);
  }

  /** Logs a version; the same again gets the same answer. */
  log(model: StoredModel): Promise<ModelEntry> {
    return this.#append(model);
  }

  async parameters(version: number): Promise<Float32Array> {
    const model = await this.#options.store.model(this.#options.task, version);
    if (model === undefined) throw new Error(`there is no version ${version}`);
    return floatsOf(await readWhole(this.#options.blobs, model.blobKey));
  }

  /** Blobs have names of their own for each buffer and content: nobody writes over, or removes, another one's. */
  async #add(
    version: number,
    ctx: Ctx,
    { parameters, memory }: { readonly parameters: Float32Array; readonly memory?: Float64Array },
    { counts, fence }: Making,
  ): Promise<StoredModel> {
    const { store, blobs, task } = this.#options;
    const bytes = bytesOf(parameters);
    const modelHash = nodeSuite.sha256(bytes);
    const name = `models/${toHex(task)}/${version}-${toHex(ctx).slice(0, 16)}`;
    const blobKey = `${name}-${toHex(modelHash).slice(0, 32)}`;
    await blobs.put(blobKey, bytes);
    const stepKey = `${name}-step`;
    const hasMemory = memory !== undefined && memory.length > 0;
    if (hasMemory) await blobs.put(stepKey, bytesOf(memory));
    const at = { madeAt: await store.now(), ...counts };
    const model = { task, version, modelHash, ctx, blobKey, ...at, ...(hasMemory && { stepKey }) };
    await store.addModel(model, fence);
    return model;
  }

  #append({ task, version, modelHash, ctx }: StoredModel): Promise<ModelEntry> {
    return this.#options.authority.appendModel({ task, version, modelHash, ctx });
  }

  #first(): Float32Array {
    const { read } = this.#options;
    const { parameters, seed = 0 } = read.specification.initial ?? {};
    if (parameters !== undefined) return floatsOf(fromHex(parameters) ?? new Uint8Array());
    return read.model === undefined ? new Float32Array(read.policy.dimension) : initialParameters(read.model, seed);
  }
}

/** Parameters travel and are hashed as little-endian words, the order of every machine with wasm. */
function bytesOf(words: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}

function floatsOf(bytes: Uint8Array): Float32Array {
  return new Float32Array(bytes.slice().buffer);
}

function doublesOf(bytes: Uint8Array): Float64Array {
  return new Float64Array(bytes.slice().buffer);
}
