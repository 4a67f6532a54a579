/** Setup of BSW07 (4.2): the keys of an authority. */
import type { RandomBytes } from '@basa/masking';
import type { Group, Scalar } from './group.ts';
import type { MasterKey, PublicKey } from './keys.ts';
import { randomScalar } from './random-scalar.ts';

export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly masterKey: MasterKey;
}

export function setup({ group, randomBytes }: { group: Group; randomBytes: RandomBytes }): KeyPair {
  return keyPairFrom(group, randomScalar(group, randomBytes), randomScalar(group, randomBytes));
}

/** PK = (h = g1^beta, f = g2^(1/beta), A = e(g1, g2)^alpha), MK = (alpha, beta) */
function keyPairFrom(group: Group, alpha: Scalar, beta: Scalar): KeyPair {
  const { g1, g2, scalars } = group;
  const betaInverse = scalars.invert(beta);
  // e(g1^alpha, g2) keeps alpha in the constant-time multiplication; g1^alpha never leaves this line.
  const a = group.pairingProduct([{ g1: g1.multiplySecret(g1.generator, alpha), g2: g2.generator }]);
  const h = g1.multiplySecret(g1.generator, beta);
  const f = g2.multiplySecret(g2.generator, betaInverse);
  return { publicKey: { h, f, a }, masterKey: { alpha, beta, betaInverse } };
}

/** Overwrites the secrets of an authority whose epoch has ended; nothing can be issued with them any more. */
export function wipeMasterKey(group: Group, { alpha, beta, betaInverse }: MasterKey): void {
  for (const scalar of [alpha, beta, betaInverse]) group.scalars.wipe(scalar);
}
