/** The data of a thread's last task and what trains on it, kept for its next job. */
import { createKernelBackend, createReferenceBackend, createTrainer, type Trainer } from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import type { LearnTask } from '@basa/simulator/virtual-time';
import { openTask, type TaskName, type TaskSource } from './learning-tasks.ts';

export interface OpenedTask {
  readonly task: LearnTask;
  readonly trainer: Trainer;
}

let last: { readonly key: string; readonly opened: Promise<OpenedTask> } | undefined;

export function openedTask(name: TaskName, seed: number, source: TaskSource = {}): Promise<OpenedTask> {
  const key = `${name} ${seed} ${source.leaf ?? ''}`;
  if (last?.key !== key) last = { key, opened: open(name, seed, source) };
  return last.opened;
}

async function open(name: TaskName, seed: number, source: TaskSource): Promise<OpenedTask> {
  const task = await openTask(name, seed, source);
  const kernel = createTrainingKernel();
  const engine = kernel ? createKernelBackend(task.model, kernel) : createReferenceBackend(task.model);
  return { task, trainer: createTrainer(engine) };
}
