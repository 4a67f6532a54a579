/** The engines make what the wire format says they make. */

import { sealedBytesOf } from '@basa/protocol';
import { abeSealings, slotKeySealings } from '@basa/virtual-time/real-sealings';
import { expect, it } from 'vitest';

it.each([
  ['slot keys', slotKeySealings, 64],
  ['CP-ABE', abeSealings, 240],
])('%s seal a seed into as many bytes as the wire has for it', (_, sealings, bytes) => {
  const { engine, sealing } = sealings();
  expect(sealing.sealedBytes).toBe(bytes);
  expect(sealedBytesOf(engine)).toBe(bytes);
});
