/** Sealing of the real size that costs nothing, whose calls the meter counts. */

import { paddedSealings } from '@basa/experiments';
import { nodeSuite } from '@basa/runtime/node';
import type { Sealings } from '@basa/simulator';
import type { Meter } from './meter.ts';
import type { SealingPrices } from './prices.ts';

export function countedSealings(meter: Meter, prices: SealingPrices): Sealings {
  const { engine, issuer, sealing } = paddedSealings(nodeSuite, prices);
  return {
    engine,
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
