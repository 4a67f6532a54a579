/** A buffer as the authority draws it for a server, and as the server shows it to a user: the descriptor and its slot keys. */
import type { Suite } from '@basa/masking';
import { SLOT_KEY_BYTES, slotKeyListProblem } from '@basa/masking';
import type { Codec } from './codec.ts';
import { message, nested, short } from './codec.ts';
import { KIND } from './kinds.ts';
import { ENGINE, MAX_SLOTS } from './policy.ts';
import type { Refused } from './refusals.ts';
import { refused } from './refusals.ts';
import { EPOCH_KEY_BYTES } from './sealing.ts';
import type { Descriptor, DescriptorBody } from './statements.ts';
import { DESCRIPTOR_BYTES, descriptorCodec } from './statements.ts';

export interface DrawnBuffer {
  readonly descriptor: Descriptor;
  /** S E_0 .. E_{K-1}; empty with CP-ABE. */
  readonly slotKeys: Uint8Array;
}

/** S and one key for each slot. */
export const slotKeysField = short(SLOT_KEY_BYTES * (MAX_SLOTS + 1));

export const drawnBufferCodec: Codec<DrawnBuffer> = message<DrawnBuffer>(KIND.drawnBuffer, 'drawnBuffer', {
  descriptor: nested(descriptorCodec, DESCRIPTOR_BYTES),
  slotKeys: slotKeysField,
});

/** The list is the one whose hash the authority signed: whoever seals to another list gives its seeds away. */
export function slotKeysProblem(
  suite: Suite,
  { engine, bufferSize, sealingKey }: Pick<DescriptorBody, 'engine' | 'bufferSize' | 'sealingKey'>,
  slotKeys: Uint8Array,
): Refused | undefined {
  if (engine !== ENGINE.slotKeys) {
    return slotKeys.length === 0
      ? undefined
      : refused('slot-keys-invalid', { detail: 'the engine of this task has no list' });
  }
  const detail = slotKeyListProblem(suite, slotKeys, {
    slots: bufferSize,
    hash: sealingKey.subarray(EPOCH_KEY_BYTES),
  });
  return detail === undefined ? undefined : refused('slot-keys-invalid', { detail });
}
