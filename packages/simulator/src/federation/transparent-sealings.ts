/** Sealing without encryption and without cost. */
import { unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import type { PaperSealings } from './world.ts';

const LENGTHS = { seed: 32, attribute: 32, context: 70 };

export function transparentPaperSealings(): PaperSealings {
  return { issuer: unsafeTransparentIssuer(), sealing: unsafeTransparentSealing(LENGTHS) };
}
