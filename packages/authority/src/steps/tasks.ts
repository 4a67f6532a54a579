/** The tasks of an authority, which are few: all are in memory. */
import { type Signer, toHex } from '@basa/masking';
import type { Refused, TaskId } from '@basa/protocol';
import { type TaskPolicy, taskIdOf } from '@basa/protocol/policy';
import { Devices } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { AuthorityStore } from '../store/store.ts';

export interface KnownTask {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
}

interface TaskTools {
  readonly store: AuthorityStore;
  readonly signer: Signer;
}

export class Tasks {
  readonly #tools: TaskTools;
  readonly #known = new Map<string, KnownTask>();

  private constructor(tools: TaskTools) {
    this.#tools = tools;
  }

  static async open(tools: TaskTools): Promise<Tasks> {
    const tasks = new Tasks(tools);
    for (const policy of await tools.store.transaction((tables) => tables.policies())) tasks.#add(policy);
    return tasks;
  }

  get all(): readonly KnownTask[] {
    return [...this.#known.values()];
  }

  find(task: Uint8Array): KnownTask | undefined {
    return this.#known.get(toHex(task));
  }

  /** A task that exists already stays as it is. */
  async create(policy: TaskPolicy): Promise<KnownTask | Refused> {
    const { store } = this.#tools;
    const problem = Devices.taskProblem(this.#tools, policy);
    if (problem !== undefined) return problem;
    await store.transaction((tables) => tables.addTask(taskIdOf(nodeSuite, policy), policy));
    return this.#add(policy);
  }

  #add(policy: TaskPolicy): KnownTask {
    const known = { task: taskIdOf(nodeSuite, policy), policy };
    this.#known.set(toHex(known.task), known);
    return known;
  }
}
