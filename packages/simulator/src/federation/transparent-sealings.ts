/** Sealing without encryption and without cost. */
import { type Suite, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import type { PaperSealings } from './world.ts';

const LENGTHS = { seed: 32, attribute: 32, context: 70 };

export function transparentPaperSealings(suite: Suite): PaperSealings {
  return { issuer: unsafeTransparentIssuer(suite), sealing: unsafeTransparentSealing(LENGTHS) };
}
