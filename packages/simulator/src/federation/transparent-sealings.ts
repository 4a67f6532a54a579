/** Sealings without encryption and without cost: attributes as in the paper, and the keys of a federation for them. */
import { type Suite, unsafeTransparentIssuer, unsafeTransparentSealing } from '@basa/masking';
import { attributeIssuer, attributeSealing, ENGINE } from '@basa/protocol';
import type { PaperSealings, Sealings } from './world.ts';

const LENGTHS = { seed: 32, attribute: 32, context: 70 };

export function transparentPaperSealings(suite: Suite): PaperSealings {
  return { issuer: unsafeTransparentIssuer(suite), sealing: unsafeTransparentSealing(LENGTHS) };
}

export function transparentSealings(suite: Suite): Sealings {
  return overAttributes(suite, ENGINE.unsafeTransparent, transparentPaperSealings(suite));
}

/** Attributes of the paper as the engine of a federation. */
export function overAttributes(suite: Suite, engine: number, { issuer, sealing }: PaperSealings): Sealings {
  return { engine, issuer: attributeIssuer(suite, issuer), sealing: attributeSealing(suite, sealing) };
}
