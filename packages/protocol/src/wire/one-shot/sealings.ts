/** The methods to seal the seeds of parts to the keys of their holders, and the size of the result. */
import { holderSealedBytes, hybridSealedBytes } from '@basa/masking';

/** `x25519+mlkem768` also withstands quantum computers: a seed stays closed while either of the two is unbroken. */
export const SEALINGS = ['x25519', 'x25519+mlkem768'] as const;
export type Sealing = (typeof SEALINGS)[number];

/** Returns whether holders have an ML-KEM key in addition to the X25519 key. */
export function isHybrid(sealing: Sealing): boolean {
  return sealing === 'x25519+mlkem768';
}

export function sealedPartBytes(sealing: Sealing, holders: number): number {
  return isHybrid(sealing) ? hybridSealedBytes(holders) : holderSealedBytes(holders);
}
