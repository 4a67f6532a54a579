/**
 * Carries out mask plans on Node: short vectors in the calling thread, long vectors piece by piece on two threads that all clients of a
 * process share, so that the calling thread can do other work. The result is the same.
 */
import { availableParallelism } from 'node:os';
import { applyMasksInPlace, type Keystream, type MaskPlan, type MaskTools, SEED_BYTES } from '@basa/masking';
import { createWorkerPool, type WorkerPool, workerModule } from '@basa/runtime/node';

export interface MaskTask extends Omit<MaskPlan, 'terms'> {
  readonly piece: Uint32Array<ArrayBuffer>;
  readonly signs: readonly (1 | -1)[];
  /** The salt of each term that has its own. */
  readonly salts: readonly (Uint8Array | undefined)[];
  /** One after the other, in the order of the signs; wiped by the thread. */
  readonly seeds: Uint8Array<ArrayBuffer>;
}

/** The number of elements from which the masks of a vector take longer than a request may wait. */
const LONG = 2 ** 18;
const MAX_PIECE = 2 ** 18;
const MAX_THREADS = 2;

type MaskPool = WorkerPool<MaskTask, Uint32Array<ArrayBuffer>>;

/** Shared by the process; made for its first long vector. Idle threads do not keep a process alive. */
let pool: MaskPool | undefined;

export async function maskVector(
  vector: Uint32Array,
  plan: MaskPlan,
  tools: MaskTools<Keystream>,
  signal?: AbortSignal,
): Promise<void> {
  if (vector.length < LONG) return applyMasksInPlace(vector, plan, tools);
  pool ??= createWorkerPool({
    ...workerModule(import.meta.url, './mask-worker'),
    size: Math.min(MAX_THREADS, availableParallelism()),
    isUnheld: true,
  });
  await maskInPieces(pool, vector, plan, tools, signal);
}

/** Each thread gets the next piece when it has returned the last one, so a slow thread does less. */
async function maskInPieces(
  threads: MaskPool,
  vector: Uint32Array,
  plan: MaskPlan,
  tools: MaskTools<Keystream>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const { firstWord = 0 } = plan;
  const pieceWords = Math.min(MAX_PIECE, 16 * Math.ceil(vector.length / threads.size / 16));
  let next = 0;
  const maskOn = async (): Promise<void> => {
    while (next < vector.length && signal?.aborted !== true) {
      const from = next;
      next += pieceWords;
      const piece = vector.subarray(from, next);
      const part = { ...plan, firstWord: firstWord + from };
      const masked = await threads.run(...taskOf(piece, part)).catch(() => undefined);
      // Without threads (for example in a bundle without the file) the work is done here: the piece is unchanged.
      if (masked === undefined) applyMasksInPlace(piece, part, tools);
      else piece.set(masked);
    }
  };
  await Promise.all(Array.from({ length: threads.size }, maskOn));
  signal?.throwIfAborted();
}

/** Copies the piece, which is the caller's memory, and transfers the copy. */
function taskOf(
  piece: Uint32Array,
  { modulus, salt, terms, firstWord }: MaskPlan & { readonly firstWord: number },
): [MaskTask, ArrayBuffer[]] {
  const copy = new Uint32Array(piece);
  const seeds = new Uint8Array(SEED_BYTES * terms.length);
  terms.forEach(({ seed }, n) => {
    seeds.set(seed.reveal(), SEED_BYTES * n);
  });
  const signs = terms.map(({ sign }) => sign);
  const salts = terms.map((term) => term.salt);
  return [{ modulus, salt, firstWord, piece: copy, signs, salts, seeds }, [copy.buffer, seeds.buffer]];
}
