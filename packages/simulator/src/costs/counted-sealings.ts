/** Sealing of the real size that costs nothing; the meter counts its calls. */
import { nodeSuite } from '@basa/runtime/node';
import type { PaperSealings } from '../federation/world.ts';
import { paddedSealings, type SealingSizes } from '../simulation/padded-sealings.ts';
import type { Meter } from './meter.ts';

export function countedSealings(meter: Meter, sizes: SealingSizes): PaperSealings {
  const { issuer, sealing } = paddedSealings(nodeSuite, sizes);
  return {
    issuer: {
      ...issuer,
      issue(attribute) {
        meter.count('issues');
        return issuer.issue(attribute);
      },
    },
    sealing: {
      ...sealing,
      seal(...input) {
        meter.count('seals');
        return sealing.seal(...input);
      },
      open(...input) {
        meter.count('opens');
        return sealing.open(...input);
      },
    },
  };
}
