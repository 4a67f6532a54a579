/** An upload as its expected bytes. */
import type { Modulus } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { bodyKey, isRowKey } from '../blobs/body-key.ts';

/** The position of the vector in a body. */
export interface BodyLayout {
  readonly elements: number;
  readonly vectorBytes: number;
  readonly bodyBytes: number;
}

/** A body by the name of its upload, with its requirements. */
export interface Body {
  readonly upload: Ctx;
  readonly layout: BodyLayout;
  readonly modulus: Modulus;
  readonly crc: number;
  /** True if the header names these sealed parts. */
  hasParts(sealed: Uint8Array): boolean;
}

/** Returns whether the body is small and comes with one request: then it is written together with the record that counts on it. */
export function comesAtOnce(
  { upload, layout }: Body,
  { offset, declaredBytes }: { readonly offset: number; readonly declaredBytes: number },
): boolean {
  return isRowKey(bodyKey(upload, layout)) && offset === 0 && declaredBytes === layout.bodyBytes;
}
