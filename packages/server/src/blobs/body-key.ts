/** The names of uploaded bodies: everything of an upload, and everything of a batch, below its name. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';

/** The prefix of the bodies of all uploads, and of the sums of all batches. */
export const BODIES = 'uploads';

/** Below the name of an upload, or of a batch. */
export function bodiesOf(name: Ctx): string {
  return `${BODIES}/${toHex(name)}`;
}

/** A body of at most this size is a row of the database, not a file. */
export const MOST_ROW_BYTES: number = 64 * 1024;
const ROW = '-row';

/** An upload has one body: its record names the checksum before the first byte comes. */
export function bodyKey(upload: Ctx, { bodyBytes }: { readonly bodyBytes: number }): string {
  return `${bodiesOf(upload)}/body${bodyBytes <= MOST_ROW_BYTES ? ROW : ''}`;
}

export function isRowKey(key: string): boolean {
  return key.endsWith(ROW);
}
