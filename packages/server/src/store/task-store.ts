/** The tasks that a server keeps. */
import { toHex } from '@basa/masking';
import type { TaskId, TaskPolicy } from '@basa/protocol';

export type TaskState = 'running' | 'paused' | 'finished';

export interface StoredTask {
  /** The hash of its policy. */
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  /** JSON, as the operator gave it. */
  readonly specification: string;
  readonly state: TaskState;
  /** Why it is finished. */
  readonly why?: string;
  readonly createdAt: number;
}

/** Whether a task was removed; where it was not, how many of its buffers are open. */
interface RemovedTask {
  readonly isRemoved: boolean;
  readonly openBuffers: number;
}

export interface TaskStore {
  /** The same again changes nothing; another one under its name is refused. */
  addTask(task: StoredTask): Promise<void>;
  task(task: TaskId): Promise<StoredTask | undefined>;
  tasks(): Promise<readonly StoredTask[]>;
  /** All tasks, without their specifications, which may be long. */
  taskStates(): Promise<readonly Pick<StoredTask, 'task' | 'state' | 'why'>[]>;
  setTaskState(task: TaskId, state: TaskState, why?: string): Promise<void>;
  /** Removes a finished task whose buffers have all ended, with everything that is stored of it; otherwise nothing. */
  removeTask(task: TaskId): Promise<RemovedTask>;
}

/** The note that says which examples a task is evaluated on. */
export function examplesNote(task: TaskId): string {
  return `evaluation-${toHex(task)}`;
}
