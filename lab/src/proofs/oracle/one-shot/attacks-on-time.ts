/** Attacks of the one-shot mode on what authorities remember: restores, clocks, and uploads that were called expired. */
import { toHex } from '@basa/masking';
import { type Ctx, type DeltaCommitment, isRefused, millis, type ShotOutcomeOf } from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import type { AttackReport } from '../trace.ts';
import { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, type Colluder, colluders, honestUploads, type ShotAttacks } from './shot-scene.ts';

const EPOCH_MS = 3_600_000;
const VOTE_MS = 900_000;

export const ATTACKS_ON_TIME: ShotAttacks = {
  'an authority is restored to before its vote, and asked for another batch': restored,
  'an authority is restored to before its vote, and shown the votes of others for another batch': restoredBehindVotes,
  'an upload is called expired by the statement of another epoch': otherEpoch,
  'the clock of an authority steps back': clockBack,
  'what was called expired is voted for behind the votes of others': backedVote,
  'an epoch that was given up is released': givenUp,
  'a device crashes when its upload has left, and gives its update again': crashedDevice,
  'the server says "expired"': serverSaysExpired,
};

/** {a, c, v}, then {a, e, v} with a colluder in the place of c. */
function restored(): AttackReport {
  const oracle = new ShotOracle({ minimum: 3 });
  const [a, c, v] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  const [keeper] = oracle.honest;
  const before = keeper?.base.log.length ?? 0;
  oracle.close([a, c, v]);
  keeper?.restore(before);
  oracle.close([a, eve.name, v], 1);
  return oracle.trace.judge();
}

/** Two batches with a common upload: the restored authority is the third voice of both. */
function restoredBehindVotes(): AttackReport {
  const oracle = new ShotOracle(COUNCIL);
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  const [first, second, third] = oracle.honest;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three honest authorities');
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
  return oracle.trace.judge();
}

/** Time passes: epochs end and others open. */
function wait({ world }: ShotOracle, ms: number): void {
  world.now = millis(world.now + ms);
  world.tick();
}

function commitmentOf({ own }: ShotDevice): DeltaCommitment {
  const given = own.ledger.deltas.get(toHex(own.deltaId));
  if (given === undefined) throw new Error('nothing was given');
  return given;
}

/** What every honest authority says of the device's upload, asked with these statements. */
function answersTo(
  oracle: ShotOracle,
  device: ShotDevice,
  statementOf: (authority: number) => Uint8Array | undefined,
): readonly ShotOutcomeOf[] {
  const { joinTag } = commitmentOf(device);
  return oracle.honest.flatMap((keeper): ShotOutcomeOf[] => {
    const statement = statementOf(keeper.base.index);
    if (statement === undefined) return [];
    const outcome = keeper.outcome({ user: device.own.user, joinTag, statement });
    return isRefused(outcome) ? [] : [{ authority: keeper.base.index, outcome }];
  });
}

/** Its update is free by these answers: it goes into another batch. */
function giveAgain(
  oracle: ShotOracle,
  device: ShotDevice,
  answers: readonly ShotOutcomeOf[],
  others: readonly Ctx[],
): void {
  if (device.release(answers).kind !== 'free') return;
  device.own.leave();
  const again = oracle.give(device);
  if (again !== undefined) oracle.close([again, ...others], 1);
}

/** A restored authority does not know its vote any more. It is asked about the upload with an epoch that ended in its time. */
function otherEpoch(): AttackReport {
  const oracle = new ShotOracle();
  const [keeper] = oracle.honest;
  const first = keeper?.base.core.liveEpochs[0]?.statement;
  for (let n = 0; n < 8; n++) wait(oracle, EPOCH_MS / 2);
  const device = oracle.world.shooter();
  const victim = oracle.give(device) as Ctx;
  const [a] = honestUploads(oracle, 1) as [Ctx];
  const before = keeper?.base.log.length ?? 0;
  oracle.close([victim, a]);
  keeper?.restore(before);
  keeper?.openEpoch();
  const answers = answersTo(oracle, device, () => first);
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  giveAgain(oracle, device, answers, [eve.name]);
  return oracle.trace.judge();
}

/** Devices and batches must not meet a time that a record contradicts. */
function clockBack(): AttackReport {
  const oracle = new ShotOracle();
  const [keeper] = oracle.honest;
  if (keeper === undefined) throw new Error('no authority');
  for (let n = 0; n < 4; n++) wait(oracle, EPOCH_MS / 2);
  const newest = keeper.base.core.liveEpochs.at(-1)?.epoch.opens ?? 0;
  keeper.clockMs = -EPOCH_MS;
  const standing = keeper.standing();
  if (!isRefused(standing) && standing.beacon.at < newest) oracle.trace.broken.add('the time went back past a record');
  return oracle.trace.judge();
}

/** One authority voted in time; three others call the upload expired, and then two votes are shown to one of them. */
function backedVote(): AttackReport {
  const oracle = new ShotOracle(COUNCIL);
  const device = oracle.world.shooter();
  const victim = oracle.give(device) as Ctx;
  const [a] = honestUploads(oracle, 1) as [Ctx];
  const [first, second, third] = oracle.honest;
  if (first) oracle.vote(first, [victim, a]);
  for (const keeper of oracle.honest) oracle.inspect(keeper, [victim, a]);
  wait(oracle, EPOCH_MS + VOTE_MS);
  const named = (authority: number) =>
    commitmentOf(device).epochs.find((one) => one.authority === authority)?.statement;
  const answers = [...answersTo(oracle, device, named), ...oracle.boughtOutcomes(device, 'expired')];
  const isFree = device.release(answers).kind === 'free';
  for (const keeper of [second, third]) if (keeper) oracle.vote(keeper, [victim, a]);
  const released = oracle.honest.map((keeper) => oracle.release(keeper, [victim, a]));
  // On the next version nobody knows that the device gave an update.
  if (released.some((answer) => !isRefused(answer))) oracle.logVersion([victim, a]);
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  if (!isFree) return oracle.trace.judge();
  device.own.leave();
  const again = oracle.give(device);
  if (again !== undefined) oracle.close([again, eve.name], 1);
  return oracle.trace.judge();
}

/** What the server kept of an ended epoch can never be opened again. */
function givenUp(): AttackReport {
  const oracle = new ShotOracle();
  const [a, b] = honestUploads(oracle, 2) as [Ctx, Ctx];
  for (const keeper of oracle.honest) oracle.vote(keeper, [a, b]);
  wait(oracle, 3 * EPOCH_MS);
  const answers = oracle.honest.map((keeper) => oracle.release(keeper, [a, b]));
  if (answers.some((answer) => !isRefused(answer))) oracle.trace.broken.add('an epoch that was given up was released');
  return oracle.trace.judge();
}

function crashedDevice(): AttackReport {
  const oracle = new ShotOracle();
  const device = oracle.world.shooter();
  const [a] = honestUploads(oracle, 1) as [Ctx];
  const first = oracle.giveAndCrash(device);
  oracle.close([first, a]);
  oracle.logVersion([first, a]);
  const again = oracle.give(device);
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  if (again !== undefined) oracle.close([again, eve.name], 1);
  return oracle.trace.judge();
}

/** Nobody but enough authorities frees an update. */
function serverSaysExpired(): AttackReport {
  const oracle = new ShotOracle(COUNCIL);
  const device = oracle.world.shooter();
  const victim = oracle.give(device) as Ctx;
  const [a] = honestUploads(oracle, 1) as [Ctx];
  oracle.close([victim, a]);
  oracle.logVersion([victim, a]);
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  giveAgain(oracle, device, oracle.boughtOutcomes(device, 'expired'), [eve.name]);
  return oracle.trace.judge();
}
