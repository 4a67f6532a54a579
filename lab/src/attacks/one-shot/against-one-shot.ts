/** Plays an attack of the threat model against the one-shot mode: three devices in a batch, one of which may collude with the server. */
import type { AttackResult, AttackSetting } from '../attack.ts';
import { ShotOracle } from './shot-oracle.ts';

export function againstOneShot({ environment }: AttackSetting, play: (oracle: ShotOracle) => void): AttackResult {
  const oracle = new ShotOracle(environment, { bufferSize: 3, minimum: 3 });
  play(oracle);
  const { leaked, broken, refusals, sumsFound } = oracle.trace.judge();
  return { findings: [...leaked, ...broken], refusals, hasSum: sumsFound > 0 };
}
