/** The upload: a framed header, then the masked vector, packed, then the sealed self seed and the backups. */
import { concatBytes, elementBits, packedLength, type Suite } from '@basa/masking';
import type { UploadHeaderBody } from './authority-messages.ts';
import type { Descriptor } from './descriptor.ts';
import { prefixElements } from './prefix.ts';
import type { BufferSealing } from './sealing.ts';

/** The body of an upload: the masked vector, packed, then the sealed self seed, then the backups. */
export interface UploadLayout {
  readonly elements: number;
  readonly vectorBytes: number;
  readonly backups: number;
  readonly sealedBytes: number;
  readonly bodyBytes: number;
}

export function uploadLayout(
  descriptor: Pick<Descriptor, 'dimension' | 'metrics' | 'modulus' | 'versions'>,
  { slot, voids }: Pick<UploadHeaderBody, 'slot' | 'voids'>,
  { sealedBytes }: Pick<BufferSealing, 'sealedBytes'>,
): UploadLayout {
  const elements = descriptor.dimension + prefixElements(descriptor);
  const vectorBytes = packedLength(elements, descriptor.modulus);
  const backups = slot - voids.length;
  return { elements, vectorBytes, backups, sealedBytes, bodyBytes: vectorBytes + (1 + backups) * sealedBytes };
}

/** The part of an upload after the vector. */
export interface SealedParts {
  /** b, in case the slot is accepted. */
  readonly self: Uint8Array;
  /** s_il of the slots i < l that are not void, in order, in case i is not accepted. */
  readonly backups: readonly Uint8Array[];
}

/** hash of (y, self, backups). */
export function bodyHashOf(suite: Suite, packedVector: Uint8Array, { self, backups }: SealedParts): Uint8Array {
  return suite.sha256(packedVector, self, ...backups);
}

/** The body as it leaves. */
export function bodyOf(packedVector: Uint8Array, { self, backups }: SealedParts): Uint8Array {
  return concatBytes(packedVector, self, ...backups);
}

/** Returns the parts after the vector of a body, as views. */
export function readSealedParts(body: Uint8Array, { vectorBytes, backups, sealedBytes }: UploadLayout): SealedParts {
  const part = (n: number): Uint8Array => {
    const start = vectorBytes + n * sealedBytes;
    return body.subarray(start, start + sealedBytes);
  };
  return { self: part(0), backups: Array.from({ length: backups }, (_, n) => part(n + 1)) };
}

/** Returns the masked vector of a body without copying, if its words are whole, aligned and 32 bits wide. */
export function viewVector(
  body: Uint8Array,
  { modulus }: Pick<Descriptor, 'modulus'>,
  { elements }: UploadLayout,
): Uint32Array | undefined {
  if (elementBits(modulus) !== 32 || body.byteOffset % 4 !== 0 || body.length < 4 * elements) return undefined;
  return new Uint32Array(body.buffer, body.byteOffset, elements);
}
