/** The tasks of a server by their names. */
import { isDeepStrictEqual } from 'node:util';
import { equalBytes, fromHex, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { taskIdOf } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { fail } from '@basa/service';
import { checkPolicy } from '../authority/authorities.ts';
import { AuthorityRefusal } from '../authority/authority-http.ts';
import { bodiesOf } from '../blobs/blob-store.ts';
import { examplesOf } from '../closing/evaluation.ts';
import { FIRST, firstOf, floatsOf, MODELS, modelsOf } from '../closing/model-keeper.ts';
import type { ServerTools } from '../shots/context.ts';
import { readTask, type TaskSpecification } from '../specification/task-specification.ts';
import type { Removal, StoredTask } from '../store/tasks.ts';
import { removeBodies } from './retention.ts';
import { RunningTask } from './running-task.ts';
import { checkShare } from './stored-bytes.ts';

export class TaskBook {
  readonly #tools: ServerTools;
  readonly #tasks = new Map<string, RunningTask>();
  /** Tasks are created one after the other. */
  #creating: Promise<unknown> = Promise.resolve();

  constructor(tools: ServerTools) {
    this.#tools = tools;
  }

  /** Resumes every task of the store. If an authority does not answer yet, it is contacted again at every tick. */
  async open(): Promise<void> {
    const { store, blobs } = this.#tools;
    const withModels = await blobs.namesBelow(MODELS); // before the tasks: a task is stored before it has models
    for (const stored of await store.tasks()) this.#add(stored);
    for (const name of withModels)
      if (!this.#tasks.has(name)) await this.#removeBlobs((fromHex(name) ?? new Uint8Array()) as TaskId); // removed, then a crash
    for (const { models } of this.#tasks.values()) {
      await models.refresh();
      await models.checkNewest();
    }
    for (const name of await blobs.namesBelow(FIRST)) {
      const isNeeded = this.all.some(
        ({ read, models }) => models.newest === undefined && read.specification.initial?.sha256 === name,
      );
      if (!isNeeded) await blobs.remove(firstOf(name)); // its task was never created
    }
    await removeBodies(this.#tools);
  }

  /** Reads the changes of other nodes: tasks, their states and their newest models. */
  async refresh(): Promise<void> {
    const { store } = this.#tools;
    const known = [...this.#tasks.keys()];
    const states = await store.taskStates();
    const stored = new Set(states.map(({ task }) => toHex(task)));
    for (const name of known) if (!stored.has(name)) this.#tasks.delete(name);
    for (const { task, state, why } of states) {
      const running = this.find(toHex(task)) ?? (await this.#load(task));
      running?.meet({ state, why });
    }
    const open = this.all.filter(({ state, models }) => state !== 'finished' || models.newest === undefined);
    await Promise.all(open.map(({ models }) => models.refresh()));
  }

  /** The task of this name, even if another node created it a moment ago. */
  async meet(name: string): Promise<RunningTask | undefined> {
    const known = this.find(name);
    if (known !== undefined) return known;
    return this.#tools.nodes.upToDate(known, () => this.#load((fromHex(name) ?? new Uint8Array()) as TaskId));
  }

  async #load(task: TaskId): Promise<RunningTask | undefined> {
    const stored = await this.#tools.store.task(task);
    if (stored === undefined) return undefined;
    const running = this.find(toHex(task)) ?? this.#add(stored);
    await running.models.refresh();
    return running;
  }

  get all(): readonly RunningTask[] {
    return [...this.#tasks.values()];
  }

  find(task: string): RunningTask | undefined {
    return this.#tasks.get(task);
  }

  /** Keeps first parameters for the task that is created next. Returns their hash. */
  async keepFirst(bytes: Uint8Array): Promise<string> {
    const isWhole = bytes.length > 0 && bytes.length % 4 === 0;
    if (!isWhole || !floatsOf(bytes).every(Number.isFinite))
      fail('malformed', { detail: 'not float32 numbers that are finite' });
    const sha256 = toHex(nodeSuite.sha256(bytes));
    await this.#tools.blobs.put(firstOf(sha256), bytes);
    return sha256;
  }

  /** The same specification again gives the same task; another one under the same policy is refused. */
  create(specification: TaskSpecification): Promise<RunningTask> {
    const created = this.#creating.then(() => this.#create(specification));
    this.#creating = created.catch(() => undefined);
    return created;
  }

  async #create(specification: TaskSpecification): Promise<RunningTask> {
    const { store, blobs, links, ports, nodes, taskBytes } = this.#tools;
    const { policy, mode } = readTask(specification);
    const first = specification.initial?.sha256;
    const task = taskIdOf(nodeSuite, policy);
    const known = await this.meet(toHex(task));
    if (known !== undefined) {
      if (!isDeepStrictEqual(known.read.specification, specification)) fail('task-exists');
      await known.models.open();
      if (first !== undefined) await blobs.remove(firstOf(first));
      return known;
    }
    if (!equalBytes(policy.serverKey, ports.signer.publicKey))
      fail('policy-invalid', { detail: 'serverKey: not the key of this server' });
    if (mode !== 'paper') checkShare(policy, taskBytes);
    const bytes = first === undefined ? 4 * policy.dimension : await blobs.size(firstOf(first));
    if (bytes !== 4 * policy.dimension)
      fail('policy-invalid', {
        detail: `initial.sha256: ${bytes === undefined ? 'send the first parameters before the task' : `${bytes} bytes, but the policy has ${policy.dimension} parameters`}`,
      });
    // The name of a task is the hash of its policy: an authority that knows it knows the same.
    await checkPolicy(links, ports.suite, task, policy).catch((error: unknown) => {
      const isUnknown = error instanceof AuthorityRefusal && error.code === 'task-unknown';
      if (isUnknown) fail('task-unknown', { detail: 'the authorities must know the policy first' });
      throw error;
    });
    const text = JSON.stringify(specification);
    const stored: StoredTask = { task, policy, specification: text, state: 'running', createdAt: await store.now() };
    await store.addTask(stored);
    const running = this.#add(stored);
    nodes.tell('task', task);
    await running.models.open();
    if (first !== undefined) await blobs.remove(firstOf(first));
    return running;
  }

  /**
   * Removes a finished task and all its data. A task that is not finished, or has open batches, is not changed. Returns the number of
   * removed rows.
   */
  async remove(running: RunningTask): Promise<Removal['rows']> {
    const { store, nodes } = this.#tools;
    const { task } = running;
    await running.settle();
    const uploads = await store.shotNames(task);
    const { isRemoved, openBatches, rows } = await store.removeTask(task);
    if (!isRemoved) fail('task-not-over', openBatches === 0 ? {} : { detail: `open batches: ${openBatches}` });
    this.#tasks.delete(toHex(task));
    nodes.tell('task', task);
    await this.#removeBlobs(task);
    await this.#tools.blobs.removeBelow(...uploads.map(bodiesOf));
    await store.purge();
    return rows;
  }

  async #removeBlobs(task: TaskId): Promise<void> {
    for (const folder of [modelsOf(task), examplesOf(task)]) await this.#tools.blobs.removeBelow(folder);
  }

  async tick(): Promise<void> {
    await Promise.all(this.all.map((task) => task.tick()));
  }

  async settle(): Promise<void> {
    await Promise.all(this.all.map((task) => task.settle()));
  }

  #add(stored: StoredTask): RunningTask {
    const specification = JSON.parse(stored.specification) as TaskSpecification;
    const running = new RunningTask(stored, readTask(specification), this.#tools);
    this.#tasks.set(toHex(stored.task), running);
    return running;
  }
}
