/** An upload as its expected bytes. */
import type { Modulus } from '@basa/masking';
import { type BodyName, bodyKey, isRowKey } from '../blobs/body-key.ts';
import type { BodyLayout } from './body-check.ts';

/** A body by its name, with its requirements. */
export interface Body {
  readonly name: BodyName;
  readonly layout: BodyLayout;
  readonly modulus: Modulus;
}

/** Returns whether the body is small and comes with one request: then it is written together with the record that counts on it. */
export function comesAtOnce(
  { name, layout }: Body,
  { offset, declaredBytes }: { readonly offset: number; readonly declaredBytes: number },
): boolean {
  return isRowKey(bodyKey(name, layout)) && offset === 0 && declaredBytes === layout.bodyBytes;
}
