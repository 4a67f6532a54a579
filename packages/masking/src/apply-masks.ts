/**
 * Carries out a mask plan piece by piece: adds the keystream of a seed to a part of the vector. Node returns the keystream synchronously
 * and processes all seeds of one block together. WebCrypto is asynchronous. There, several blocks of one seed are requested together, and
 * some of them in advance.
 */
import {
  type AsyncKeystream,
  deriveStreamKey,
  type Keystream,
  type KeystreamRequest,
  requestKeystream,
  type StreamKey,
} from './keystream.ts';
import { FIELD_PRIME, type Modulus, streamWidth } from './modulus.ts';
import type { Secret } from './secret.ts';
import type { Suite } from './suite.ts';
import { accumulateBlock, loadBlock, storeBlock } from './vector.ts';
import type { VectorKernel } from './vector-kernel.ts';

/** A seed that masks a vector, with its sign. */
export interface MaskTerm {
  readonly seed: Secret;
  /** +1 adds PRG(seed), -1 subtracts it. */
  readonly sign: 1 | -1;
  /** HKDF salt of this term, if it is not the plan's: in the one-shot mode every upload has its own. */
  readonly salt?: Uint8Array;
}

/** The masks that a user adds to its vector, as data. A kernel carries the plan out. */
export interface MaskPlan {
  readonly modulus: Modulus;
  /** HKDF salt of the terms: ctx of the buffer in `paper` mode, so that a seed used twice differs by buffer. */
  readonly salt: Uint8Array;
  readonly terms: readonly MaskTerm[];
  /** The element of the stream that meets element 0; a multiple of 16. For vectors handled in shards. */
  readonly firstWord?: number;
}

export interface MaskTools<Stream extends Keystream | AsyncKeystream> {
  readonly suite: Suite;
  readonly kernel: VectorKernel;
  readonly keystream: Stream;
}

/** vector += sum of sign * PRG(seed), canonical afterwards. */
export function applyMasksInPlace(vector: Uint32Array, plan: MaskPlan, tools: MaskTools<Keystream>): void {
  const work = openPlan(vector, plan, tools);
  try {
    for (const piece of piecesOf(work, tools.kernel.blockWords, Math.max(1, plan.terms.length))) {
      const rejected = addPiece(work, piece, (i) => tools.keystream.read(requestOf(work, piece, i)));
      for (const word of rejected) {
        const steps = replaceRejected(work, word);
        let step = steps.next();
        while (!step.done) step = steps.next(tools.keystream.read(step.value));
      }
    }
  } finally {
    closePlan(work);
  }
}

/** The number of words of a seed that are requested from WebCrypto at a time: a call costs as much as many kilobytes. */
const STRETCH_WORDS = 131_072;
/** The number of requests that WebCrypto processes on its own threads while earlier results are added. */
const REQUESTS_AHEAD = 8;

/** The same bytes over an asynchronous keystream. The vector must not be touched until the promise settles. */
export async function applyMasksInPlaceAsync(
  vector: Uint32Array,
  plan: MaskPlan,
  tools: MaskTools<AsyncKeystream>,
): Promise<void> {
  const work = openPlan(vector, plan, tools);
  const pieces = piecesOf(work, STRETCH_WORDS, 1);
  const asked: { readonly piece: Piece; readonly stream: Promise<Uint8Array> }[] = [];
  const askAhead = (): void => {
    while (asked.length < REQUESTS_AHEAD) {
      const { value: piece, done } = pieces.next();
      if (done === true) return;
      const stream = tools.keystream.read(requestOf(work, piece, 0));
      stream.catch(() => undefined); // The caller that awaits it sees the error; a request that fails before its turn must not end the process.
      asked.push({ piece, stream });
    }
  };
  try {
    askAhead();
    for (let next = asked.shift(); next !== undefined; next = asked.shift()) {
      const stream = await next.stream;
      askAhead();
      for (const word of addPiece(work, next.piece, () => stream)) {
        const steps = replaceRejected(work, word);
        let step = steps.next();
        while (!step.done) step = steps.next(await tools.keystream.read(step.value));
      }
    }
  } finally {
    await Promise.allSettled(asked.map(({ stream }) => stream));
    closePlan(work);
  }
}

interface OpenTerm extends MaskTerm {
  readonly stream: StreamKey;
}

/** A plan whose seeds have become keys of streams, and the vector they are added to. */
interface OpenPlan {
  readonly vector: Uint32Array;
  readonly plan: MaskPlan;
  readonly firstWord: number;
  readonly terms: readonly OpenTerm[];
  readonly suite: Suite;
  readonly kernel: VectorKernel;
}

/** Some terms for `words` words of the vector from `start` on. */
interface Piece {
  readonly start: number;
  readonly words: number;
  readonly terms: readonly OpenTerm[];
}

/** A keystream word outside the field, with its place in the vector. */
interface RejectedWord {
  readonly term: MaskTerm;
  readonly index: number;
}

function openPlan(
  vector: Uint32Array,
  plan: MaskPlan,
  { suite, kernel }: { readonly suite: Suite; readonly kernel: VectorKernel },
): OpenPlan {
  const firstWord = checkFirstWord(plan.firstWord ?? 0);
  const terms = plan.terms.map((term) => ({
    ...term,
    stream: deriveStreamKey(suite, term.seed.reveal(), term.salt ?? plan.salt, 0),
  }));
  return { vector, plan, firstWord, terms, suite, kernel };
}

function closePlan({ terms, kernel }: OpenPlan): void {
  for (const { stream } of terms) wipeStreamKey(stream);
  kernel.wipe();
}

function* piecesOf({ vector, terms }: OpenPlan, words: number, termsAtOnce: number): Generator<Piece, undefined> {
  for (let start = 0; start < vector.length; start += words) {
    for (let first = 0; first < terms.length; first += termsAtOnce)
      yield {
        start,
        words: Math.min(words, vector.length - start),
        terms: terms.slice(first, first + termsAtOnce),
      };
  }
}

function requestOf({ plan, firstWord }: OpenPlan, { start, words, terms }: Piece, term: number): KeystreamRequest {
  const width = streamWidth(plan.modulus);
  return requestKeystream((terms[term] as OpenTerm).stream, width * (firstWord + start), width * words);
}

/** The kernel's scratch holds nothing between two pieces, so that plans may share a kernel while they wait. */
function addPiece(work: OpenPlan, piece: Piece, read: (index: number) => Uint8Array): readonly RejectedWord[] {
  const { vector, plan, kernel } = work;
  const { modulus } = plan;
  const width = streamWidth(modulus);
  const rejected: RejectedWord[] = [];
  for (let from = 0; from < piece.words; from += kernel.blockWords) {
    const words = Math.min(kernel.blockWords, piece.words - from);
    const start = piece.start + from;
    loadBlock(kernel, vector, start, words);
    for (let i = 0; i < piece.terms.length; i++) {
      const term = piece.terms[i] as OpenTerm;
      const bytes = read(i);
      const stream = words === piece.words ? bytes : bytes.subarray(width * from, width * (from + words));
      if (!accumulateBlock(kernel, stream, words, term.sign, modulus, width)) continue;
      for (let k = 0; k < words; k++) {
        if (readWord(stream, k) >= FIELD_PRIME) rejected.push({ term, index: start + k });
      }
    }
    storeBlock(kernel, vector, start, words, modulus);
  }
  return rejected;
}

// Element k of the mask is word k of the first round n = 1, 2, .. whose word k is in the field.
function* replaceRejected(
  { vector, plan, firstWord, suite }: OpenPlan,
  { term, index }: RejectedWord,
): Generator<KeystreamRequest, void, Uint8Array> {
  const word = firstWord + index;
  for (let round = 1; round < 256; round++) {
    const stream = deriveStreamKey(suite, term.seed.reveal(), term.salt ?? plan.salt, round);
    const read = yield requestKeystream(stream, 16 * Math.floor(word / 4), 16);
    const candidate = readWord(read, word % 4);
    wipeStreamKey(stream);
    if (candidate >= FIELD_PRIME) continue;
    const replaced = (vector[index] as number) + term.sign * candidate;
    vector[index] = replaced < 0 ? replaced + FIELD_PRIME : replaced % FIELD_PRIME;
    return;
  }
  throw new Error('255 replacement words in a row lie outside the field: the keystream is broken');
}

function readWord(stream: Uint8Array, word: number): number {
  return new DataView(stream.buffer, stream.byteOffset).getUint32(4 * word, true);
}

function checkFirstWord(firstWord: number): number {
  if (Number.isSafeInteger(firstWord) && firstWord >= 0 && firstWord % 16 === 0) return firstWord;
  throw new RangeError(`firstWord must be a non-negative multiple of 16, got ${firstWord}`);
}

function wipeStreamKey({ key, counter }: StreamKey): void {
  key.fill(0);
  counter.fill(0);
}
