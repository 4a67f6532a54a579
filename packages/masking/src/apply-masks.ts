/**
 * Carries out a mask plan block by block: for each block of the vector, for each seed, keystream and add.
 * The steps are written once, as a coroutine that asks for keystream: Node answers at once, WebCrypto later.
 */
import type { AsyncKeystream, Keystream, KeystreamRequest, StreamKey } from './keystream.ts';
import { deriveStreamKey, requestKeystream } from './keystream.ts';
import type { MaskPlan, MaskTerm } from './mask-plan.ts';
import { FIELD_PRIME, streamWidth } from './modulus.ts';
import type { Suite } from './suite.ts';
import { accumulateBlock, loadBlock, storeBlock } from './vector.ts';
import type { VectorKernel } from './vector-kernel.ts';

export interface MaskTools<Stream extends Keystream | AsyncKeystream> {
  readonly suite: Suite;
  readonly kernel: VectorKernel;
  readonly keystream: Stream;
}

/** vector += sum of sign * PRG(seed), canonical afterwards. */
export function applyMasksInPlace(vector: Uint32Array, plan: MaskPlan, tools: MaskTools<Keystream>): void {
  const steps = maskSteps(vector, plan, tools, Math.max(1, plan.terms.length));
  let step = steps.next();
  while (!step.done) {
    const requests = step.value;
    step = steps.next((i) => tools.keystream.read(requests[i] as KeystreamRequest));
  }
}

/** Keystream requests that WebCrypto works on at the same time, on threads of its own. */
const REQUESTS_IN_FLIGHT = 16;

/** The same bytes over an asynchronous keystream. The vector must not be touched until the promise settles. */
export async function applyMasksInPlaceAsync(
  vector: Uint32Array,
  plan: MaskPlan,
  tools: MaskTools<AsyncKeystream>,
): Promise<void> {
  const steps = maskSteps(vector, plan, tools, REQUESTS_IN_FLIGHT);
  try {
    let step = steps.next();
    while (!step.done) {
      const pieces = await Promise.all(step.value.map((request) => tools.keystream.read(request)));
      step = steps.next((i) => pieces[i] as Uint8Array);
    }
  } finally {
    steps.return();
  }
}

/** Asks for pieces of keystream, and is answered with a function that gives the i-th of them. */
type Steps<Result> = Generator<readonly KeystreamRequest[], Result, (index: number) => Uint8Array>;

interface OpenTerm extends MaskTerm {
  readonly stream: StreamKey;
}

/** A keystream word outside the field, with its place in the vector. */
interface RejectedWord {
  readonly term: MaskTerm;
  readonly index: number;
}

// The kernel's scratch holds nothing between two requests, so that plans may share a kernel while they wait.
function* maskSteps(
  vector: Uint32Array,
  plan: MaskPlan,
  { suite, kernel }: { readonly suite: Suite; readonly kernel: VectorKernel },
  batch: number,
): Steps<void> {
  const firstWord = checkFirstWord(plan.firstWord ?? 0);
  const width = streamWidth(plan.modulus);
  const terms = plan.terms.map((term) => ({
    ...term,
    stream: deriveStreamKey(suite, term.seed.reveal(), plan.salt, 0),
  }));
  try {
    for (let start = 0; start < vector.length; start += kernel.blockWords) {
      const words = Math.min(kernel.blockWords, vector.length - start);
      for (let first = 0; first < terms.length; first += batch) {
        const some = terms.slice(first, first + batch);
        const read = yield some.map(({ stream }) =>
          requestKeystream(stream, width * (firstWord + start), width * words),
        );
        const rejected = addTermsToBlock(vector, start, words, plan, some, read, kernel);
        for (const word of rejected) yield* replaceRejected(vector, word, plan, firstWord, suite);
      }
    }
  } finally {
    for (const { stream } of terms) wipeStreamKey(stream);
    kernel.wipe();
  }
}

function addTermsToBlock(
  vector: Uint32Array,
  start: number,
  words: number,
  { modulus }: MaskPlan,
  terms: readonly OpenTerm[],
  read: (index: number) => Uint8Array,
  kernel: VectorKernel,
): readonly RejectedWord[] {
  const width = streamWidth(modulus);
  const rejected: RejectedWord[] = [];
  loadBlock(kernel, vector, start, words);
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i] as OpenTerm;
    const stream = read(i);
    if (!accumulateBlock(kernel, stream, words, term.sign, modulus, width)) continue;
    for (let k = 0; k < words; k++) {
      if (readWord(stream, k) >= FIELD_PRIME) rejected.push({ term, index: start + k });
    }
  }
  storeBlock(kernel, vector, start, words, modulus);
  return rejected;
}

// Element k of the mask is word k of the first round n = 1, 2, .. whose word k lies in the field.
function* replaceRejected(
  vector: Uint32Array,
  { term, index }: RejectedWord,
  plan: MaskPlan,
  firstWord: number,
  suite: Suite,
): Steps<void> {
  const word = firstWord + index;
  for (let round = 1; round < 256; round++) {
    const stream = deriveStreamKey(suite, term.seed.reveal(), plan.salt, round);
    const read = yield [requestKeystream(stream, 16 * Math.floor(word / 4), 16)];
    const candidate = readWord(read(0), word % 4);
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
