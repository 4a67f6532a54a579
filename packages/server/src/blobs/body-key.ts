/** The names of uploaded bodies: everything of a buffer below one name, everything of a slot below the next. */
import { toHex } from '@basa/masking';
import type { Ctx, UploadHeader } from '@basa/protocol';

/** The prefix of the bodies of all buffers, each below the name of its buffer. */
export const BODIES = 'uploads';

export function bodiesOf(ctx: Ctx): string {
  return `${BODIES}/${toHex(ctx)}`;
}

export function bodiesOfSlot(ctx: Ctx, slot: number): string {
  return `${bodiesOf(ctx)}/${slot}`;
}

/** A body of at most this size is a row of the database, not a file. */
export const MOST_ROW_BYTES: number = 64 * 1024;
const ROW = '-row';

/** Unique for slot and bytes, so that nothing is ever overwritten. */
export function bodyKey(
  { ctx, slot, bodyHash }: Pick<UploadHeader, 'ctx' | 'slot' | 'bodyHash'>,
  { bodyBytes }: { readonly bodyBytes: number },
): string {
  return `${bodiesOfSlot(ctx, slot)}/${toHex(bodyHash).slice(0, 32)}${bodyBytes <= MOST_ROW_BYTES ? ROW : ''}`;
}

export function isRowKey(key: string): boolean {
  return key.endsWith(ROW);
}
