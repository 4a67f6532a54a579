/**
 * The attacks on the one-shot mode that its checks exist for. Against the unmodified core they learn at most the sums
 * of final batches; against a core without the check they are made for, they learn more, or break a promise.
 */
import { ATTACKS_ON_BATCHES } from './attacks-on-batches.ts';
import { ATTACKS_ON_PARTS } from './attacks-on-parts.ts';
import { ATTACKS_ON_SEALING } from './attacks-on-sealing.ts';
import { ATTACKS_ON_STATEMENTS } from './attacks-on-statements.ts';
import { ATTACKS_ON_SUMS } from './attacks-on-sums.ts';
import { ATTACKS_ON_TIME } from './attacks-on-time.ts';
import { ATTACKS_ON_UPDATES } from './attacks-on-updates.ts';
import type { ShotAttack } from './shot-scene.ts';

/** In the order of their ids. */
export const ONE_SHOT_ATTACKS: readonly ShotAttack[] = [
  ...ATTACKS_ON_PARTS,
  ...ATTACKS_ON_SEALING,
  ...ATTACKS_ON_BATCHES,
  ...ATTACKS_ON_TIME,
  ...ATTACKS_ON_SUMS,
  ...ATTACKS_ON_STATEMENTS,
  ...ATTACKS_ON_UPDATES,
].sort((a, b) => Number(a.id.slice(1)) - Number(b.id.slice(1)));
