/** CP-ABE makes what the wire format says it makes. */

import { paperAbeSealings, sealingTrial } from '@basa/simulator/real-sealings';
import { expect, it } from 'vitest';

it('CP-ABE seals a seed into 240 bytes', () => {
  const sealings = paperAbeSealings();
  expect(sealings.sealing.sealedBytes).toBe(240);
  expect(sealingTrial(sealings).sealedBytes).toBe(240);
});
