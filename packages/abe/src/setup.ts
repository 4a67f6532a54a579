/** Setup of BSW07 (4.2): the keys of an authority. */
import type { RandomBytes } from '@basa/masking';
import type { Group } from './group.ts';
import { invertSecret } from './invert-secret.ts';
import type { MasterKey, PublicKey } from './keys.ts';
import { randomScalar } from './random-scalar.ts';

export interface KeyPair {
  readonly publicKey: PublicKey;
  readonly masterKey: MasterKey;
}

export function setup({ group, randomBytes }: { group: Group; randomBytes: RandomBytes }): KeyPair {
  const [alpha, beta] = [randomScalar(group, randomBytes), randomScalar(group, randomBytes)];
  const masterKey = { alpha, beta, betaInverse: invertSecret(beta, group) };
  return { publicKey: publicKeyOf(masterKey, group), masterKey };
}

/** PK = (h = g1^beta, f = g2^(1/beta), A = e(g1, g2)^alpha) */
export function publicKeyOf({ alpha, beta, betaInverse }: MasterKey, group: Group): PublicKey {
  const { g1, g2 } = group;
  // e(g1^alpha, g2) keeps alpha in the constant-time multiplication; g1^alpha never leaves this line.
  const a = group.pairingProduct([{ g1: g1.multiplySecret(g1.generator, alpha), g2: g2.generator }]);
  const h = g1.multiplySecret(g1.generator, beta);
  const f = g2.multiplySecret(g2.generator, betaInverse);
  return { h, f, a };
}

/** Overwrites the secrets of an authority whose epoch has ended; nothing can be issued with them any more. */
export function wipeMasterKey(group: Group, { alpha, beta, betaInverse }: MasterKey): void {
  for (const scalar of [alpha, beta, betaInverse]) group.scalars.wipe(scalar);
}
