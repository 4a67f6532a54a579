/** Checks a staged body: its checksum, the sealed parts that its header names, and a vector of elements of the group. */
import { elementBits, firstNonCanonical, type Modulus } from '@basa/masking';
import { nodeCrc32 } from '@basa/runtime/node';
import { collect, type Staging } from '../blobs/blob-store.ts';
import { wordPieces } from '../blobs/words.ts';
import type { Body, BodyLayout } from './body.ts';

/** The requirements on a body. */
export type ExpectedBody = Pick<Body, 'crc' | 'hasParts' | 'layout' | 'modulus'>;

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

/** `knownCrc`: of everything staged, if it was computed on arrival. */
export async function isExpected(
  staging: Checked,
  { crc, hasParts, modulus, layout }: ExpectedBody,
  knownCrc: number | undefined,
): Promise<boolean> {
  if ((knownCrc ?? (await crcOf(staging))) !== crc) return false;
  const { vectorBytes, bodyBytes } = layout;
  const sealed = await collect(staging.read(vectorBytes, bodyBytes), bodyBytes - vectorBytes);
  return hasParts(sealed) && (await isCanonical(staging, modulus, layout));
}

async function crcOf(staging: Checked): Promise<number> {
  let crc = 0;
  for await (const block of staging.read(0, staging.size)) crc = nodeCrc32(block, crc);
  return crc;
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
