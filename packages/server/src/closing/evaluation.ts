/** Score and loss of model versions on held-out examples, if a task has a model, a loss that the server knows, and examples. */
import { checkDataset, type Dataset, decodeDataset, ModelFileError, modelJson } from '@basa/learning';
import { toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { nodeSuite, type WorkerPool } from '@basa/runtime/node';
import { fail } from '@basa/service';
import { examplesNote } from '../store/tasks.ts';
import type { ModelContext, ModelKeeper } from './model-keeper.ts';
import type { Evaluated, WorkResult, WorkTask } from './work/sum-shard.ts';

/** The prefix of the held-out examples of a task. */
export function examplesOf(task: TaskId): string {
  return `evaluation/${toHex(task)}`;
}

interface EvaluationContext extends ModelContext {
  readonly models: ModelKeeper;
  readonly pool: WorkerPool<WorkTask, WorkResult>;
}

export class Evaluation {
  readonly #context: EvaluationContext;
  /** The version that could not be evaluated: it is not tried again and again. */
  #failed: number | undefined;

  constructor(context: EvaluationContext) {
    this.#context = context;
  }

  /** Replaces the examples. Returns their number. */
  async setExamples(bytes: Uint8Array): Promise<number> {
    const { blobs, store } = this.#context;
    const { labels } = this.#checked(bytes);
    // A separate name for each file, because workers cache the examples they have read.
    const name = toHex(nodeSuite.sha256(bytes)).slice(0, 32);
    const before = await this.#examples();
    await blobs.put(`${this.#folder()}/${name}`, bytes);
    await store.setNote(this.#note(), new TextEncoder().encode(name));
    if (before !== undefined && before !== name) await blobs.remove(`${this.#folder()}/${before}`);
    this.#failed = undefined;
    const newest = await this.#context.models.current();
    if (newest !== undefined) await this.evaluate(newest.version);
    return labels.length;
  }

  /** Evaluates the newest version, unless that was done. */
  async catchUp(): Promise<void> {
    const { newest } = this.#context.models;
    if (newest === undefined || newest.loss !== undefined || newest.version === this.#failed) return;
    try {
      await this.evaluate(newest.version);
    } catch (error) {
      this.#failed = newest.version;
      throw error;
    }
  }

  async evaluate(version: number): Promise<void> {
    const { models, pool, read, store, task } = this.#context;
    const { model } = read;
    const { loss } = read.policy.training;
    const name = model === undefined ? undefined : await this.#examples();
    if (model === undefined || name === undefined || loss === 'own') return;
    const parameters = await models.parameters(version);
    const examples = `${this.#folder()}/${name}`;
    const work: WorkTask = { kind: 'evaluate', model: modelJson(model), loss, parameters, examples };
    await store.setEvaluation(task, version, (await pool.run(work)) as Evaluated);
    await models.refresh();
  }

  #checked(bytes: Uint8Array): Dataset {
    const { model, policy } = this.#context.read;
    const { loss } = policy.training;
    if (model === undefined) fail('malformed', { detail: 'the task has no model to evaluate' });
    if (loss === 'own') fail('malformed', { detail: 'the loss of the task is its own: the server cannot evaluate it' });
    const dataset = decoded(bytes);
    if (dataset.labels.length === 0) fail('malformed', { detail: 'labels: there are no examples' });
    try {
      checkDataset(dataset, model, loss);
    } catch (error) {
      if (error instanceof RangeError) fail('malformed', { detail: error.message });
      throw error;
    }
    return dataset;
  }

  async #examples(): Promise<string | undefined> {
    const note = await this.#context.store.note(this.#note());
    return note === undefined ? undefined : new TextDecoder().decode(note);
  }

  #folder(): string {
    return examplesOf(this.#context.task);
  }

  #note(): string {
    return examplesNote(this.#context.task);
  }
}

function decoded(bytes: Uint8Array): Dataset {
  try {
    return decodeDataset(bytes);
  } catch (error) {
    if (error instanceof ModelFileError) fail('malformed', { detail: error.message });
    throw error;
  }
}
