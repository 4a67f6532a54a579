/**
 * The attacks on `sealed` that its checks exist for, as schedules against the real core. The adversary goes as far as
 * users and authority let it; the trace says what it learns. Against the core as it is they learn the honest sum at
 * most; against a core without the check they are made for, they learn more.
 */

import type { OracleEngine } from '../world/symbolic-federation.ts';
import type { Attacks } from './attack-moves.ts';
import { COLLUDED_ATTACKS } from './attacks-by-colluders.ts';
import { CLOSED_ATTACKS } from './attacks-on-close.ts';
import { COUNCIL_ATTACKS } from './attacks-on-councils.ts';
import { RESUBMITTED_ATTACKS } from './attacks-on-updates.ts';
import { TOLD_ATTACKS } from './attacks-on-users.ts';
import { Federations } from './federations.ts';
import { ONE_SHOT_ATTACKS } from './one-shot/shot-attacks.ts';
import { OracleWorld } from './oracle-world.ts';
import type { AttackReport } from './trace.ts';

export const SEALED_ATTACKS: Attacks = {
  ...CLOSED_ATTACKS,
  ...TOLD_ATTACKS,
  ...RESUBMITTED_ATTACKS,
  ...COLLUDED_ATTACKS,
};

/** Plays one attack in a world of its own. */
export function playAttack(name: string, engine: OracleEngine = 'attributes'): AttackReport {
  const whole = COUNCIL_ATTACKS[name] ?? ONE_SHOT_ATTACKS[name];
  if (whole !== undefined) return whole();
  const attack = SEALED_ATTACKS[name];
  if (attack === undefined) throw new Error(`no attack "${name}"`);
  const world = new OracleWorld(new Federations(engine), attack);
  const broken: string[] = [];
  attack.play(world, broken);
  return { ...world.trace.judge(), broken };
}
