/**
 * The attacks that the checks of `sealed` mode stop, as schedules against the real core. The adversary goes as far as users and authority
 * allow, and the trace computes everything that it learns. Against the unmodified core, an attack learns at most the honest sum. Against a
 * core without the check that stops it, it learns more.
 */

import { nodeEnvironment } from '@basa/virtual-time/simulation';
import type { AttackReport } from '../../attacks/judgement.ts';
import { ONE_SHOT_ATTACKS } from '../../attacks/one-shot/registry.ts';
import { playShot, type ShotAttack } from '../../attacks/one-shot/shot-scene.ts';
import type { OracleEngine } from '../world/symbolic-federation.ts';
import type { Attacks } from './attack-moves.ts';
import { COLLUDED_ATTACKS } from './attacks-by-colluders.ts';
import { CLOSED_ATTACKS } from './attacks-on-close.ts';
import { COUNCIL_ATTACKS } from './attacks-on-councils.ts';
import { RESUBMITTED_ATTACKS } from './attacks-on-updates.ts';
import { TOLD_ATTACKS } from './attacks-on-users.ts';
import { Federations } from './federations.ts';
import { OracleWorld } from './oracle-world.ts';

export const SEALED_ATTACKS: Attacks = {
  ...CLOSED_ATTACKS,
  ...TOLD_ATTACKS,
  ...RESUBMITTED_ATTACKS,
  ...COLLUDED_ATTACKS,
};

export function shotAttack(schedule: string): ShotAttack | undefined {
  return ONE_SHOT_ATTACKS.find((attack) => attack.schedule === schedule);
}

/** Plays one attack in its own world. */
export function playAttack(name: string, engine: OracleEngine = 'attributes'): AttackReport {
  const council = COUNCIL_ATTACKS[name];
  if (council !== undefined) return council();
  const shot = shotAttack(name);
  if (shot !== undefined) return playShot(shot, nodeEnvironment);
  const attack = SEALED_ATTACKS[name];
  if (attack === undefined) throw new Error(`no attack "${name}"`);
  const world = new OracleWorld(new Federations(engine), attack);
  const broken: string[] = [];
  attack.play(world, broken);
  return { ...world.trace.judge(), broken };
}
