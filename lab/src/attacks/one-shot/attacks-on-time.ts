/** Attacks of the one-shot mode on the memory of authorities: restores, clocks, and a device that crashes. */
import { type Ctx, isRefused, millis } from '@basa/protocol';
import type { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, type Colluder, colluders, honestUploads, type ShotAttack } from './shot-scene.ts';

const EPOCH_MS = 3_600_000;
const _VOTE_MS = 900_000;

export const ATTACKS_ON_TIME: readonly ShotAttack[] = [
  {
    id: 'S13',
    schedule: 'an authority is restored from a backup without its vote, and asked to vote for another batch',
    without: 'epochs that outlive a restore',
    learned: ['x of U0 + x of U2', 'x of U1'],
    world: { minimum: 3 },
    /** {a, c, v}, then {a, e, v} with a colluder in place of c. */
    play(oracle) {
      const [a, c, v] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const [eve] = colluders(oracle, 1) as readonly [Colluder];
      const [keeper] = oracle.honest;
      const before = keeper?.base.log.length ?? 0;
      oracle.close([a, c, v]);
      keeper?.restore(before);
      oracle.close([a, eve.name, v], 1);
    },
  },
  {
    id: 'S15',
    schedule: 'the clock of an authority is set back',
    without: 'a time that goes back before a record',
    learned: ['the time went back past a record'],
    /** Devices and batches must not see a time that contradicts a record. */
    play(oracle) {
      const [keeper] = oracle.honest;
      if (keeper === undefined) throw new Error('no authority');
      for (let n = 0; n < 4; n++) wait(oracle, EPOCH_MS / 2);
      const newest = keeper.base.core.liveEpochs.at(-1)?.epoch.opens ?? 0;
      keeper.clockMs = -EPOCH_MS;
      const standing = keeper.standing();
      if (!isRefused(standing) && standing.beacon.at < newest)
        oracle.trace.broken.add('the time went back past a record');
    },
  },
  {
    id: 'S17',
    schedule: 'an epoch that was given up is released',
    without: 'an epoch released after its end',
    learned: ['an epoch that was given up was released'],
    /** The uploads of an ended epoch that the server kept can never be opened again. */
    play(oracle) {
      const [a, b] = honestUploads(oracle, 2) as [Ctx, Ctx];
      for (const keeper of oracle.honest) oracle.vote(keeper, [a, b]);
      wait(oracle, 3 * EPOCH_MS);
      const answers = oracle.honest.map((keeper) => oracle.release(keeper, [a, b]));
      if (answers.some((answer) => !isRefused(answer)))
        oracle.trace.broken.add('an epoch that was given up was released');
    },
  },
  {
    id: 'S20',
    schedule: 'a device crashes after sending its upload, and gives its update again',
    without: 'an upload that is not recorded before it is sent',
    learned: ['x of U1', 'x of U0'],
    play(oracle) {
      const device = oracle.world.shooter();
      const [a] = honestUploads(oracle, 1) as [Ctx];
      const first = oracle.giveAndCrash(device);
      oracle.close([first, a]);
      oracle.logVersion([first, a]);
      const again = oracle.give(device);
      const [eve] = colluders(oracle, 1) as readonly [Colluder];
      if (again !== undefined) oracle.close([again, eve.name], 1);
    },
  },
  {
    id: 'S22',
    schedule: 'an authority is restored from a backup without its vote, and gets the votes of others for another batch',
    without: 'a vote in a dead epoch that follows the votes of others',
    learned: ['x of U0 + x of U2', 'x of U1 - x of U2'],
    world: COUNCIL,
    /** Two batches with a common upload: the restored authority is the third vote of both. */
    play(oracle) {
      const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
      const [first, second, third] = oracle.honest;
      if (first === undefined || second === undefined || third === undefined)
        throw new Error('three honest authorities');
      oracle.inspect(second, [a, c]);
      const before = second.base.log.length;
      for (const keeper of [first, second]) oracle.vote(keeper, [a, b]);
      oracle.vote(third, [a, c], 1);
      second.restore(before);
      oracle.vote(second, [a, c], 1);
      for (const keeper of [first, third]) {
        oracle.release(keeper, [a, b]);
        oracle.release(keeper, [a, c], 1);
      }
    },
  },
];

/** Time passes: epochs end and others open. */
function wait({ world }: ShotOracle, ms: number): void {
  world.now = millis(world.now + ms);
  world.tick();
}
