/** The maximum lengths of the requests of the one-shot mode, by the policy of their task, and the bytes of all that are under way. */
import { KEM_KEY_BYTES, toHex } from '@basa/masking';
import type { TaskId } from '@basa/protocol';
import { MAX_AUTHORITIES, MAX_BATCH, OneShotRules, type TaskPolicy } from '@basa/protocol/policy';
import { BATCH_BYTES, EPOCHS_AT_ONCE, MAX_INSPECTED, shotLayout } from '@basa/protocol/wire';
import { type FastifyReply, type FastifyRequest, fail } from '@basa/service';

// The maximum lengths of the requests of the one-shot mode, by the policy of their task.

/** All epochs that a request may show, and votes; without the ML-KEM keys of the epochs. */
const STATEMENTS_BYTES = 576 * 1024;

const kemBytes = (authorities: number): number => EPOCHS_AT_ONCE * authorities * KEM_KEY_BYTES;

function statementsBytes({ authorities, oneShot }: TaskPolicy): number {
  const isLong = oneShot !== undefined && OneShotRules.isHybrid(oneShot.sealing);
  return STATEMENTS_BYTES + (isLong ? kemBytes(authorities.length) : 0);
}

/** Certificate, header and sealed parts of an upload that names all authorities. */
function uploadBytes(policy: TaskPolicy): number {
  const epochs = policy.authorities.map((_, authority) => ({ authority, statement: new Uint8Array(32) }));
  return headBytes(epochs.length) + shotLayout(policy, epochs).partsBytes;
}

export const vectorBytes = (policy: TaskPolicy): number => shotLayout(policy, []).vectorBytes;

const headBytes = (authorities: number): number => 768 + 128 * authorities;

export const shotLimits: Readonly<
  Record<'inspection' | 'vote' | 'release' | 'answer' | 'together', (policy: TaskPolicy) => number>
> = {
  inspection: (policy: TaskPolicy): number => statementsBytes(policy) + MAX_INSPECTED * uploadBytes(policy),
  vote: ({ bufferSize }: TaskPolicy): number => 65_536 + 32 * bufferSize,
  release: (policy: TaskPolicy): number => statementsBytes(policy) + policy.bufferSize * (32 + uploadBytes(policy)),
  /** The largest answer to a release: the vectors of all parts that an authority holds. */
  answer: (policy: TaskPolicy): number =>
    OneShotRules.taskParts(policy).filter((part) => OneShotRules.isHolder(part, 0)).length * vectorBytes(policy),
  /**
   * The limit for all requests of a task together, with the vectors of their answers: the largest request plus inspections, and two of the
   * largest answers, because a server whose request took too long sends it again.
   */
  together: (policy: TaskPolicy): number =>
    shotLimits.release(policy) + 2 * (shotLimits.inspection(policy) + shotLimits.answer(policy)),
};

/** Above every task's limit: the bound for Fastify before the task is known. */
const LARGEST_STATEMENTS = STATEMENTS_BYTES + kemBytes(MAX_AUTHORITIES);
const LARGEST_UPLOAD =
  headBytes(MAX_AUTHORITIES) +
  OneShotRules.MAX_PARTS * OneShotRules.sealedPartBytes('x25519+mlkem768', MAX_AUTHORITIES);
export const SHOT_BODY_LIMIT = {
  inspection: LARGEST_STATEMENTS + MAX_INSPECTED * LARGEST_UPLOAD,
  vote: 65_536 + BATCH_BYTES,
  release: LARGEST_STATEMENTS + MAX_BATCH * (32 + LARGEST_UPLOAD),
} as const;

// Bounds the bytes of long requests and answers that are in memory at the same time, for each task, so that memory does not grow with their
// number.

const COME_BACK_MS = 1000;

export interface HeldBytes {
  readonly task: TaskId;
  readonly bytes: number;
  /** The limit for all requests of the task together. */
  readonly most: number;
}

export class BytesUnderWay {
  readonly #bytes = new Map<string, number>();
  readonly #works = new WeakMap<FastifyRequest, Promise<unknown>>();

  /**
   * Counts bytes of a request, or of its answer, until the answer is sent or its receiver is gone, and the work on the request has ended.
   * Ends the request if there is no room now; a single request always has room.
   */
  hold(request: FastifyRequest, { raw }: FastifyReply, { task, bytes, most }: HeldBytes): void {
    if (raw.destroyed) fail('interrupted');
    const name = toHex(task);
    const before = this.#bytes.get(name) ?? 0;
    if (before > 0 && before + bytes > most)
      fail('overloaded', { detail: 'other long requests of this task are running', retryAfterMs: COME_BACK_MS });
    this.#add(name, bytes);
    raw.once('close', async () => {
      await Promise.allSettled([this.#works.get(request)]);
      this.#add(name, -bytes);
    });
  }

  /** Work that continues, and needs the memory of its request, when the sender of the request is gone. */
  during<Result>(request: FastifyRequest, work: Promise<Result>): Promise<Result> {
    this.#works.set(request, work);
    return work;
  }

  #add(name: string, bytes: number): void {
    const left = (this.#bytes.get(name) ?? 0) + bytes;
    if (left > 0) this.#bytes.set(name, left);
    else this.#bytes.delete(name);
  }
}
