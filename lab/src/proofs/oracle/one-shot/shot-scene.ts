/** Who is there in an attack on the one-shot mode. */
import type { Ctx } from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import type { AttackReport } from '../trace.ts';
import type { ShotOracle } from './shot-oracle.ts';

/** By what is done. */
export type ShotAttacks = Readonly<Record<string, () => AttackReport>>;

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
