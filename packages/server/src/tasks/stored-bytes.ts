/**
 * The share of a task in the storage of its server: the models that are kept, and the updates that are in no version yet. If the share is
 * used up, no device gets a place, as in a task that is paused. Uploads and sums that have begun are finished, so a task can
 * exceed its share by their size.
 */
import { packedLength } from '@basa/masking';
import type { TaskPolicy } from '@basa/protocol/policy';
import { InputWords } from '@basa/protocol/wire';
import { fail } from '@basa/service';
import type { TaskContext } from '../shots/context.ts';

type StorageContext = Pick<TaskContext, 'store' | 'blobs' | 'taskBytes' | 'task' | 'policy'> & {
  readonly models: Pick<TaskContext['models'], 'newest'>;
};

const PARAMETER_BYTES = 4;

function modelBytesOf({ dimension }: TaskPolicy): number {
  return dimension * PARAMETER_BYTES;
}

function updateBytesOf(policy: TaskPolicy): number {
  return packedLength(InputWords.inputElements(policy), policy.modulus);
}

/** Refuses a new task whose first sum would use up its share before it is full: the devices that are missing would get no place. */
export function checkShare(policy: TaskPolicy, taskBytes = Number.POSITIVE_INFINITY): void {
  const least = modelBytesOf(policy) + policy.bufferSize * updateBytesOf(policy);
  if (taskBytes >= least) return;
  const needs = `one model and ${policy.bufferSize} updates need ${least} bytes`;
  fail('policy-invalid', {
    detail: `${needs}, but taskBytes of this server is ${taskBytes}: raise it, or make smaller sums (--buffer)`,
  });
}
/** An operator has to do something, or retention. */
const ASK_AGAIN_MS = 60_000;

export class StoredBytes {
  readonly #context: StorageContext;
  #bytes: number | undefined;
  #stepBytes = 0;

  constructor(context: StorageContext) {
    this.#context = context;
  }

  /** As of the last look of this node; undefined without a limit. */
  get bytes(): number | undefined {
    return this.#bytes;
  }

  async look(): Promise<void> {
    const { store, task, policy, taskBytes } = this.#context;
    if (taskBytes === undefined) return;
    const { models, steps, shots } = await store.storedVectors(task);
    const modelBytes = models * modelBytesOf(policy) + steps * (await this.#bytesOfStep());
    this.#bytes = modelBytes + shots * updateBytesOf(policy);
  }

  check(): void {
    const { taskBytes = Number.POSITIVE_INFINITY } = this.#context;
    const bytes = this.#bytes ?? 0;
    if (bytes < taskBytes) return;
    fail('task-storage-full', { detail: `${bytes} of ${taskBytes} bytes`, retryAfterMs: ASK_AGAIN_MS });
  }

  /** The memory of the server's step is of the same size in every version. */
  async #bytesOfStep(): Promise<number> {
    const { blobs, models } = this.#context;
    const stepKey = models.newest?.stepKey;
    if (this.#stepBytes === 0 && stepKey !== undefined) this.#stepBytes = (await blobs.size(stepKey)) ?? 0;
    return this.#stepBytes;
  }
}
