/** The costs of CP-ABE: seal a seed, open one with a known key, issue a key. */
import { createMclGroup, warmUpPairing } from '@basa/abe';
import { paperAbeSealings, sealingTrial } from '../simulation/real-sealings.ts';
import type { SealingPrices } from './costs.ts';
import { type Sampling, sample } from './sampling.ts';

export async function abePrices(sampling: Sampling): Promise<SealingPrices> {
  warmUpPairing(await createMclGroup()); // like a client: a cold process is several times slower
  const { sealedBytes, keyBytes, seal, open, issue } = sealingTrial(paperAbeSealings());
  return {
    seal: sample('cp-abe seal', seal, sampling),
    open: sample('cp-abe open', open, sampling),
    issue: sample('cp-abe key', issue, sampling),
    sealedBytes,
    keyBytes,
  };
}
