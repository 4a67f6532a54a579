/** The parties of an attack on the one-shot mode. */
import { type AuthorityStanding, type Ctx, epochCodec, standingsCodec } from '@basa/protocol';
import type { Environment, ShotAuthority, ShotDevice } from '@basa/simulator';
import type { AttackReport } from '../judgement.ts';
import { ShotOracle, type ShotOracleOptions } from './shot-oracle.ts';

/** An attack on the one-shot mode. Its title and story are those of its id in `ATTACK_WORDS`. */
export interface ShotAttack {
  /** The id of the rule that stops it. */
  readonly id: string;
  readonly schedule: string;
  /** The behaviour of a mode without the rule. */
  readonly without: string;
  /**
   * The expected result of the attack on that mode: the values it learns or the promises it breaks. The tests of the
   * mutants verify it.
   */
  readonly learned: readonly string[];
  /** The task and the colluding authorities. */
  readonly world?: ShotOracleOptions;
  /** The core refuses the policy of the task, so that no device ever contributes. */
  readonly isRefusedTask?: true;
  play(oracle: ShotOracle): void;
}

/** Plays the attack against the core that is loaded. */
export function playShot({ world, isRefusedTask, play }: ShotAttack, environment: Environment): AttackReport {
  if (isRefusedTask && !isAccepted(world, environment)) return new ShotOracle(environment).trace.judge();
  const oracle = new ShotOracle(environment, world);
  play(oracle);
  return oracle.trace.judge();
}

function isAccepted(world: ShotOracleOptions | undefined, environment: Environment): boolean {
  try {
    new ShotOracle(environment, world);
    return true;
  } catch {
    return false;
  }
}

/** Four authorities, three of which are needed, the first on the server's side. */
export const COUNCIL = { council: { authorities: 4, threshold: 3 }, tolerated: 1, colluding: [0] };

/** A private task. */
export const PRIVACY = { noiseMultiplier: 1, colluders: 0, delta: 1e-5, participations: 10 };

/** Seeds are sealed to ML-KEM keys as well. */
export const HYBRID = { sealing: 'x25519+mlkem768' } as const;

export interface Colluder {
  readonly device: ShotDevice;
  readonly name: Ctx;
}

/** Devices of the adversary, each with one upload. */
export function colluders(oracle: ShotOracle, count: number): readonly Colluder[] {
  return Array.from({ length: count }, () => {
    const device = oracle.world.shooter();
    return { device, name: oracle.colluderGives(device) };
  });
}

/** Returns the statements that the server shows, with changes by the colluding authorities, which sign their epochs again. */
export function withLyingStandings(
  { world, colluding }: ShotOracle,
  change: (standing: AuthorityStanding, liar: ShotAuthority) => Partial<AuthorityStanding>,
): Uint8Array {
  const { standings } = standingsCodec.decode(world.shots.standings());
  const shown = standings.map((standing) => {
    const liar = colluding.find(({ base }) => base.index === standing.authority);
    if (liar === undefined) return standing;
    const changed = { ...standing, ...change(standing, liar) };
    const signature = liar.base.ports.signer.sign(epochCodec.statement(changed.epoch));
    return { ...changed, epoch: { ...changed.epoch, signature } };
  });
  return standingsCodec.encode({ standings: shown });
}

/** True if an honest device that is shown these statements contributes. */
export function canGive(oracle: ShotOracle, standings: Uint8Array): boolean {
  try {
    return oracle.give(oracle.world.shooter(), standings) !== undefined;
  } catch {
    return false;
  }
}

/** Two uploads of one colluder, the second under another tag. */
export function twoUploads(oracle: ShotOracle): readonly [Ctx, Ctx] {
  const [{ device, name }] = colluders(oracle, 1) as readonly [Colluder];
  const { header } = oracle.stored(name).upload;
  const other = { ...header, joinTag: header.joinTag.map((byte) => byte ^ 1) as typeof header.joinTag };
  return [name, oracle.forge(device.own, other, oracle.ownParts({ ...other, user: device.own.user }))];
}

/** Uploads of honest devices. */
export function honestUploads(oracle: ShotOracle, count: number): readonly Ctx[] {
  return Array.from({ length: count }, () => oracle.give(oracle.world.shooter()) as Ctx);
}
