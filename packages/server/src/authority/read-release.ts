/** Reads the sums of masks that an authority releases as they arrive: no vector is in memory as a whole. */
import { concatBytes } from '@basa/masking';
import { type ReleaseAnswer, releaseAnswerCodec, unframeHeader } from '@basa/protocol';

/** The consumer of an answer. */
export interface TakeRelease {
  /** Throws if the answer is useless. Returns the number of vectors that follow it. */
  answer(answer: ReleaseAnswer): Promise<number>;
  /** A piece of the vector with this number, valid until the promise is fulfilled. */
  piece(vector: number, bytes: Uint8Array): Promise<void>;
}

export interface ReleaseLimits {
  readonly vectorBytes: number;
  /** The time that the answer may take beyond the usual time of a request. */
  readonly extraMs: number;
}

/** The length, before the answer itself. */
const LENGTH_BYTES = 4;
/** Fits every answer before its vectors. */
const MAX_HEAD_BYTES = 64 * 1024;
const FRAME_ALIGNMENT = 64;

export async function readRelease(
  { body }: Pick<Response, 'body'>,
  take: TakeRelease,
  vectorBytes: number,
): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array();
  let vectors: VectorPieces | undefined;
  for await (const part of body ?? []) {
    if (vectors !== undefined) {
      await vectors.add(part);
      continue;
    }
    head = concatBytes(head, part);
    const headBytes = framedBytes(head);
    if (headBytes === undefined || head.length < headBytes) continue;
    const { header } = unframeHeader(head.subarray(0, headBytes), MAX_HEAD_BYTES);
    vectors = new VectorPieces(take, vectorBytes, await take.answer(releaseAnswerCodec.decode(header)));
    await vectors.add(head.subarray(headBytes));
  }
  if (vectors === undefined || !vectors.isWhole) throw new Error('the sums of masks were cut off');
  return new Uint8Array();
}

/** Returns the length of the head; undefined until it is known. Throws if it is too long. */
function framedBytes(head: Uint8Array): number | undefined {
  if (head.length < LENGTH_BYTES) return undefined;
  const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true);
  if (length > MAX_HEAD_BYTES) throw new Error(`an answer of ${length} bytes before the sums of masks`);
  return Math.ceil((LENGTH_BYTES + length) / FRAME_ALIGNMENT) * FRAME_ALIGNMENT;
}

class VectorPieces {
  readonly #take: TakeRelease;
  readonly #vectorBytes: number;
  readonly #count: number;
  #read = 0;

  constructor(take: TakeRelease, vectorBytes: number, count: number) {
    this.#take = take;
    this.#vectorBytes = vectorBytes;
    this.#count = count;
  }

  get isWhole(): boolean {
    return this.#read === this.#count * this.#vectorBytes;
  }

  async add(bytes: Uint8Array): Promise<void> {
    for (let rest = bytes; rest.length > 0; ) {
      const vector = Math.floor(this.#read / this.#vectorBytes);
      if (vector >= this.#count) throw new Error('more bytes follow after the requested sums of masks');
      const taken = rest.subarray(0, this.#vectorBytes - (this.#read % this.#vectorBytes));
      await this.#take.piece(vector, taken);
      this.#read += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
}
