/** Checks that a staged body is the one its header names: its hash, and a vector of elements of the group. */
import { createHash } from 'node:crypto';
import { elementBits, equalBytes, firstNonCanonical, type Modulus } from '@basa/masking';
import type { Staging } from '../blobs/blob-store.ts';
import { wordPieces } from '../blobs/words.ts';

/** The position of the vector in a body. */
export interface BodyLayout {
  readonly elements: number;
  readonly vectorBytes: number;
  readonly bodyBytes: number;
}

export interface ExpectedBody {
  readonly bodyHash: Uint8Array;
  readonly modulus: Modulus;
  readonly layout: BodyLayout;
}

/** The part of a body that is read to check it. */
type Checked = Pick<Staging, 'size' | 'read'>;

/** A body that is not written anywhere yet. */
export function inMemory(bytes: Uint8Array): Checked {
  return {
    size: bytes.length,
    async *read(start, end) {
      yield bytes.subarray(start, end);
    },
  };
}

/** `knownHash`: of everything staged, if it was computed on arrival. */
export async function isExpected(
  staging: Checked,
  { bodyHash, modulus, layout }: ExpectedBody,
  knownHash: Uint8Array | undefined,
): Promise<boolean> {
  const hash = knownHash ?? (await hashOf(staging));
  return equalBytes(hash, bodyHash) && (await isCanonical(staging, modulus, layout));
}

async function hashOf(staging: Checked): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for await (const block of staging.read(0, staging.size)) hash.update(block);
  return hash.digest();
}

/** True if every element is below q, and the bits after the last one are zero. */
async function isCanonical(
  staging: Checked,
  modulus: Modulus,
  { elements, vectorBytes }: BodyLayout,
): Promise<boolean> {
  const bits = elementBits(modulus);
  if (bits < 32) {
    const used = (elements * bits) % 8;
    if (used === 0) return true;
    for await (const [last = 0] of staging.read(vectorBytes - 1, vectorBytes)) return last >> used === 0;
  }
  if (modulus.kind === 'ring') return true;
  for await (const words of wordPieces(staging.read(0, vectorBytes)))
    if (firstNonCanonical(words, modulus) >= 0) return false;
  return true;
}
