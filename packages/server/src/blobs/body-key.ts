/** The names of uploaded bodies: everything of an upload, and everything of a batch, below its name. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';

/** The prefix of the bodies of all uploads, and of the sums of all batches. */
export const BODIES = 'uploads';

/** A body by the upload it belongs to, and its hash. */
export interface BodyName {
  readonly upload: Ctx;
  readonly bodyHash: Uint8Array;
}

/** Below the name of an upload, or of a batch. */
export function bodiesOf(name: Ctx): string {
  return `${BODIES}/${toHex(name)}`;
}

/** A body of at most this size is a row of the database, not a file. */
export const MOST_ROW_BYTES: number = 64 * 1024;
const ROW = '-row';

/** Unique for upload and bytes, so that nothing is ever overwritten. */
export function bodyKey({ upload, bodyHash }: BodyName, { bodyBytes }: { readonly bodyBytes: number }): string {
  return `${bodiesOf(upload)}/${toHex(bodyHash).slice(0, 32)}${bodyBytes <= MOST_ROW_BYTES ? ROW : ''}`;
}

export function isRowKey(key: string): boolean {
  return key.endsWith(ROW);
}
