/** The tasks of a server by their names. */
import { toHex } from '@basa/masking';
import type { Ctx, SecureBuffer, TaskId } from '@basa/protocol';
import { encodePolicy, taskIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { fail } from '@basa/service';
import type { TaskTools } from './running-task.ts';
import { RunningTask } from './running-task.ts';
import type { StoredTask } from './store/store.ts';
import type { TaskSpecification } from './task-specification.ts';
import { readTask } from './task-specification.ts';

export class TaskBook {
  readonly #tools: TaskTools;
  readonly #tasks = new Map<string, RunningTask>();

  constructor(tools: TaskTools) {
    this.#tools = tools;
  }

  /** Takes up every task of the store. An authority that does not answer yet is asked again at every tick. */
  async open(): Promise<void> {
    const { store, keeper } = this.#tools;
    for (const stored of await store.tasks()) this.#add(stored, JSON.parse(stored.specification) as TaskSpecification);
    for (const task of this.#tasks.values()) await task.models.refresh();
    for (const { ctx } of await store.livingBuffers()) await keeper.find(ctx);
  }

  get all(): readonly RunningTask[] {
    return [...this.#tasks.values()];
  }

  find(task: string): RunningTask | undefined {
    return this.#tasks.get(task);
  }

  track(buffer: SecureBuffer): void {
    this.find(toHex(buffer.descriptor.task))?.track(buffer);
  }

  uploaded(task: TaskId, ctx: Ctx): void {
    this.find(toHex(task))?.uploaded(ctx);
  }

  /** The same specification again is the same task; another one under the same policy is refused. */
  async create(specification: TaskSpecification): Promise<RunningTask> {
    const { store, authority, clock } = this.#tools;
    const { policy } = readTask(specification);
    const task = taskIdOf(nodeSuite, policy);
    const text = JSON.stringify(specification);
    const known = this.find(toHex(task));
    if (known !== undefined) {
      if (JSON.stringify(known.read.specification) !== text) fail('task-exists');
      await known.models.open();
      return known;
    }
    const atAuthority = await authority.policy(task);
    if (toHex(encodePolicy(atAuthority)) !== specification.policy) fail('policy-invalid', { detail: 'policy' });
    const stored: StoredTask = { task, specification: text, state: 'running', createdAt: clock() };
    await store.addTask(stored);
    const running = this.#add(stored, specification);
    await running.models.open();
    return running;
  }

  async tick(): Promise<void> {
    await Promise.all(this.all.map((task) => task.tick()));
  }

  async settle(): Promise<void> {
    await Promise.all(this.all.map((task) => task.settle()));
  }

  #add(stored: StoredTask, specification: TaskSpecification): RunningTask {
    const running = new RunningTask(stored, readTask(specification), this.#tools);
    this.#tasks.set(toHex(stored.task), running);
    return running;
  }
}
