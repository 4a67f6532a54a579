/** Who is there in an attack on the one-shot mode. */
import type { Ctx } from '@basa/protocol';
import type { Environment, ShotDevice } from '@basa/simulator';
import type { AttackReport } from '../judgement.ts';
import type { ShotOracle } from './shot-oracle.ts';

/** An attack on the one-shot mode. Its title and story are those of its id in `ATTACK_WORDS`. */
export interface ShotAttack {
  /** Of the rule that stops it. */
  readonly id: string;
  readonly schedule: string;
  /** What a mode without the rule has. */
  readonly without: string;
  /** What the attack learns or breaks then; the tests of the mutants hold it to the truth. */
  readonly learned: readonly string[];
  /** Against the core as it is. */
  play(environment: Environment): AttackReport;
}

/** Four authorities, three of which are needed, the first on the server's side. */
export const COUNCIL = { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [0] };

export interface Colluder {
  readonly device: ShotDevice;
  readonly name: Ctx;
}

/** Devices of the adversary that gave an upload each. */
export function colluders(oracle: ShotOracle, count: number): readonly Colluder[] {
  return Array.from({ length: count }, () => {
    const device = oracle.world.shooter();
    return { device, name: oracle.colluderGives(device) };
  });
}

/** Uploads of honest devices. */
export function honestUploads(oracle: ShotOracle, count: number): readonly Ctx[] {
  return Array.from({ length: count }, () => oracle.give(oracle.world.shooter()) as Ctx);
}
