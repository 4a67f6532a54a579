/** A buffer as its server had it drawn, and shows it to a user: the descriptor and the slot keys of its parts. */
import { concatBytes, type Suite, slotKeyListBytes, slotKeyListProblem } from '@basa/masking';
import type { TaskId } from './brands.ts';
import { type Codec, message, nested } from './codec.ts';
import { MAX_AUTHORITIES } from './council.ts';
import {
  type BufferPart,
  DESCRIPTOR_BYTES,
  type Descriptor,
  descriptorCodec,
  partField,
  type SignedDescriptor,
} from './descriptor.ts';
import { long, short } from './fields.ts';
import { KIND } from './kinds.ts';
import { MAX_SLOTS } from './limits.ts';
import { field } from './named-fields.ts';
import { ENGINE } from './policy.ts';
import { type Refused, refused } from './refusals.ts';
import { EPOCH_KEY_BYTES } from './sealing.ts';

export interface DrawnBuffer {
  readonly descriptor: SignedDescriptor;
  /** S E_0 .. E_{K-1} of each part, one list after the other; empty with CP-ABE. */
  readonly slotKeys: Uint8Array;
}

/** The lists of all parts. */
export const slotKeysField = long(slotKeyListBytes(MAX_SLOTS) * MAX_AUTHORITIES);

export const drawnBufferCodec: Codec<DrawnBuffer> = message<DrawnBuffer>(KIND.drawnBuffer, 'drawnBuffer', {
  descriptor: nested(descriptorCodec, DESCRIPTOR_BYTES),
  slotKeys: slotKeysField,
});

/** Each list must be the one whose hash its authority signed: a user that seals to another list reveals its seeds. */
export function slotKeysProblem(
  suite: Suite,
  { engine, bufferSize, parts }: Pick<Descriptor, 'engine' | 'bufferSize' | 'parts'>,
  slotKeys: Uint8Array,
): Refused | undefined {
  const invalid = (detail: string): Refused => refused('slot-keys-invalid', { detail });
  if (engine !== ENGINE.slotKeys)
    return slotKeys.length === 0 ? undefined : invalid('the engine of this task has no list');
  const bytes = slotKeyListBytes(bufferSize);
  if (slotKeys.length !== bytes * parts.length)
    return invalid(
      `${parts.length} lists of ${bufferSize} slots have ${bytes * parts.length} bytes, got ${slotKeys.length}`,
    );
  for (const [place, { authority, sealingKey }] of parts.entries()) {
    const list = slotKeys.subarray(bytes * place, bytes * (place + 1));
    const detail = slotKeyListProblem(suite, list, { slots: bufferSize, hash: sealingKey.subarray(EPOCH_KEY_BYTES) });
    if (detail !== undefined) return invalid(`of authority ${authority}: ${detail}`);
  }
  return undefined;
}

/** The offer of one authority for a buffer: its part and its list. It serves one descriptor. */
export interface Offer {
  readonly task: TaskId;
  readonly part: BufferPart;
  readonly slotKeys: Uint8Array;
}

export const offerCodec: Codec<Offer> = message<Offer>(KIND.offer, 'offer', {
  task: field.task,
  part: partField,
  slotKeys: short(slotKeyListBytes(MAX_SLOTS)),
});

/** The lists of offers, in the order of the parts. */
export function listsOf(offers: readonly Offer[]): Uint8Array {
  return concatBytes(...offers.map(({ slotKeys }) => slotKeys));
}
