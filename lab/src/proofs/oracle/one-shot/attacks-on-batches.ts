/** Attacks of the one-shot mode on who is in a batch: overlapping batches, too few devices, several models, too few votes. */
import type { Ctx } from '@basa/protocol';
import type { AttackReport } from '../trace.ts';
import { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, type Colluder, colluders, honestUploads, type ShotAttacks } from './shot-scene.ts';

export const ATTACKS_ON_BATCHES: ShotAttacks = {
  'one upload is in two batches': overlapping,
  'a batch has the number of another that was voted for': sameNumber,
  'every authority is told another batch, and asked to release it': splitVotes,
  'two of four authorities are enough': tooLowThreshold,
  'a batch has fewer devices than the policy wants': tooFew,
  'one colluder fills a batch': oneColluder,
  'a device gives two updates on one version': twoUpdates,
  'a batch has updates on two models': twoModels,
};

function overlapping(): AttackReport {
  const oracle = new ShotOracle();
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  oracle.close([a, b]);
  oracle.close([a, c], 1);
  return oracle.trace.judge();
}

/** The number of a batch is the server's; a vote must be for its uploads. */
function sameNumber(): AttackReport {
  const oracle = new ShotOracle();
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  oracle.close([a, b]);
  for (const keeper of oracle.honest) oracle.release(keeper, [a, c]);
  return oracle.trace.judge();
}

function splitVotes(): AttackReport {
  const oracle = new ShotOracle(COUNCIL);
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  const lists = [
    [a, b],
    [a, c],
    [b, c],
  ];
  for (const [n, keeper] of oracle.honest.entries()) oracle.vote(keeper, lists[n] as Ctx[], n);
  for (const keeper of oracle.honest) for (const [n, list] of lists.entries()) oracle.release(keeper, list, n);
  return oracle.trace.judge();
}

/** The policy is refused before there is a task: no device ever gives anything. */
function tooLowThreshold(): AttackReport {
  const oracle = emptyOracle();
  if (oracle === undefined) return new ShotOracle().trace.judge();
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  const [first, second] = oracle.honest;
  if (first) oracle.vote(first, [a, b]);
  if (second) oracle.vote(second, [a, c], 1);
  for (const keeper of oracle.honest) {
    oracle.release(keeper, [a, b]);
    oracle.release(keeper, [a, c], 1);
  }
  return oracle.trace.judge();
}

function emptyOracle(): ShotOracle | undefined {
  try {
    return new ShotOracle({ ...COUNCIL, council: { authorities: 4, threshold: 2 } });
  } catch {
    return undefined;
  }
}

function tooFew(): AttackReport {
  const oracle = new ShotOracle({ minimum: 3 });
  const [a] = honestUploads(oracle, 1) as [Ctx];
  const [eve] = colluders(oracle, 1) as readonly [Colluder];
  oracle.close([a]);
  oracle.close([a, eve.name], 1);
  return oracle.trace.judge();
}

/** Two uploads of one colluder beside the victim's. */
function oneColluder(): AttackReport {
  const oracle = new ShotOracle({ minimum: 3 });
  const [a] = honestUploads(oracle, 1) as [Ctx];
  const device = oracle.world.shooter();
  const first = oracle.colluderGives(device);
  const { header } = oracle.stored(first).upload;
  const other = { ...header, joinTag: header.joinTag.map((byte) => byte ^ 1) as typeof header.joinTag };
  const second = oracle.forge(device, other, oracle.ownParts({ ...other, user: device.own.user }));
  oracle.close([a, first, second]);
  return oracle.trace.judge();
}

/** Nearly the same update, under another tag, in a second sum over others. */
function twoUpdates(): AttackReport {
  const oracle = new ShotOracle();
  const [a, b] = honestUploads(oracle, 2) as [Ctx, Ctx];
  const device = oracle.world.shooter();
  const first = oracle.colluderGives(device);
  const { header } = oracle.stored(first).upload;
  const other = { ...header, joinTag: header.joinTag.map((byte) => byte ^ 1) as typeof header.joinTag };
  const second = oracle.forge(device, other, oracle.ownParts({ ...other, user: device.own.user }));
  const isFirst = oracle.close([a, first]);
  const isSecond = oracle.close([b, second], 1);
  if (isFirst && isSecond) oracle.trace.broken.add('two updates of one device on one version are in sums');
  return oracle.trace.judge();
}

function twoModels(): AttackReport {
  const oracle = new ShotOracle();
  const [a, b, c] = honestUploads(oracle, 3) as [Ctx, Ctx, Ctx];
  oracle.close([a, b]);
  oracle.logVersion([a, b]);
  const [d] = honestUploads(oracle, 1) as [Ctx];
  oracle.close([c, d], 1);
  return oracle.trace.judge();
}
