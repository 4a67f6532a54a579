/** The moves in a schedule of the one-shot mode: each is one action of a device, or one attempt of the adversary. */
import { toHex } from '@basa/masking';
import {
  type AuthorityStanding,
  type Ctx,
  isRefused,
  millis,
  type ShotOutcomeOf,
  standingsCodec,
} from '@basa/protocol';
import type { ShotAuthority, ShotDevice } from '@basa/simulator';
import type { ShotOracle } from '../../attacks/one-shot/shot-oracle.ts';
import type { Dice } from './dice.ts';

/** The material of the moves. */
export interface Scene {
  readonly oracle: ShotOracle;
  readonly dice: Dice;
  readonly devices: ShotDevice[];
  readonly colluders: ShotDevice[];
  /** All existing uploads, including forged ones. */
  readonly names: Ctx[];
  /** Batches that were asked for. */
  readonly asked: { readonly names: readonly Ctx[]; readonly number: number }[];
  /** Statements and answers that the server kept, to show them again. */
  readonly standings: Uint8Array[];
}

type Move = (scene: Scene) => void;

const HOUR_MS = 3_600_000;

export const MOVES: Readonly<Record<string, Move>> = {
  'a device gives its update': give,
  'a device gives its update, again': give,
  'a device crashes when its upload has left': (scene) => {
    const device = scene.dice.pick(scene.devices);
    if (device.own.session === undefined) keep(scene, crashed(scene, device));
  },
  'a device has a new update': ({ dice, devices }) => dice.pick(devices).own.newUpdate(),
  'a device asks what became of its update': askOutcome,
  'a colluder gives an upload': colluderGives,
  "a colluder's upload has the parts of another": (scene) =>
    forged(scene, (victim) => scene.oracle.world.shots.shown(scene.oracle.stored(victim)).sealed),
  "a colluder's upload has the tag of another": (scene) => forged(scene, undefined),
  "an upload is inspected with parts of the server's own": ({ oracle, dice, names }) => {
    if (names.length === 0) return;
    const name = dice.pick(names);
    oracle.inspectWith(dice.pick(oracle.honest), name, oracle.ownParts(oracle.stored(name).upload.header));
  },
  'a batch is asked for': vote,
  'a batch is asked for, again': vote,
  'every authority is asked for one batch': voteAll,
  'every authority is asked for one batch, again': voteAll,
  'a batch is released': release,
  'a batch is released, again': release,
  'an authority is restored': ({ oracle, dice }) => {
    const keeper = dice.pick(oracle.honest);
    keeper.restore(dice.below(keeper.base.log.length + 1));
    // A restored authority that no longer knows the task opens no epoch.
    if (keeper.base.core.newestModel(oracle.world.task) !== undefined) keeper.openEpoch();
  },
  'an authority starts again': ({ oracle, dice }) => dice.pick(oracle.honest).restart(),
  'a clock is wrong': ({ oracle, dice }) => {
    dice.pick(oracle.honest).clockMs = dice.pick([-1, -0.25, 0, 0, 0.01, 1.5]) * HOUR_MS;
  },
  'time passes': ({ oracle: { world }, dice }) => {
    world.now = millis(world.now + dice.pick([0.01, 0.01, 0.5, 1.25, 3]) * HOUR_MS);
    world.tick();
  },
  'a version is logged': logVersion,
};

/** On the current statements, on some of them, or on some that were kept. */
function give(scene: Scene): void {
  const { oracle, dice, devices, standings } = scene;
  const now = oracle.world.shots.standings();
  standings.push(now);
  const { standings: all } = standingsCodec.decode(now);
  const some = all.filter((_: AuthorityStanding) => dice.chance(0.8));
  const shown = dice.pick([now, now, standingsCodec.encode({ standings: some }), dice.pick(standings)]);
  const device = dice.pick(devices);
  if (device.own.session?.step === 'acknowledged') device.own.newUpdate();
  keep(scene, oracle.give(device, shown));
}

function crashed({ oracle }: Scene, device: Scene['devices'][number]): Ctx | undefined {
  try {
    return oracle.giveAndCrash(device);
  } catch {
    return undefined;
  }
}

function colluderGives(scene: Scene): void {
  const { oracle, dice, colluders } = scene;
  if (colluders.length === 0) return;
  const device = dice.pick(colluders);
  device.own.newUpdate();
  const given = oracle.tryColluder(device);
  keep(scene, given);
}

/** The header of a colluder that carries something of another upload. */
function forged(scene: Scene, sealedOf: ((victim: Ctx) => Uint8Array) | undefined): void {
  const { oracle, dice, colluders, names } = scene;
  if (colluders.length === 0 || names.length === 0) return;
  const device = dice.pick(colluders);
  const victim = dice.pick(names);
  const { header } = oracle.stored(victim).upload;
  const own = { ...header, user: device.own.user };
  const sealed = sealedOf?.(victim) ?? oracle.ownParts(own);
  keep(scene, oracle.forge(device.own, own, sealed));
}

/** A list of uploads: often a short one without repetitions, sometimes an earlier list in another order. */
function askedFor({ dice, names, asked, oracle }: Scene): Scene['asked'][number] | undefined {
  if (names.length === 0) return undefined;
  const { bufferSize } = oracle.world.policy;
  const before = asked.length > 0 && dice.chance(0.4) ? dice.pick(asked) : undefined;
  if (before !== undefined && dice.chance(0.7)) return before;
  const list = before === undefined ? dice.shuffled(names).slice(0, 1 + dice.below(bufferSize)) : before.names;
  const changed = dice.chance(0.1) ? [...list, dice.pick(list)] : dice.shuffled(list);
  const one = { names: changed, number: dice.below(2) };
  asked.push(one);
  return one;
}

function vote(scene: Scene): void {
  const asked = askedFor(scene);
  if (asked !== undefined) scene.oracle.vote(scene.dice.pick(scene.oracle.honest), asked.names, asked.number);
}

function voteAll(scene: Scene): void {
  const asked = askedFor(scene);
  if (asked === undefined) return;
  for (const keeper of scene.oracle.honest) scene.oracle.vote(keeper, asked.names, asked.number);
}

/** With the votes so far, with too few, with those of another batch; now and then with the server's own parts. */
function release(scene: Scene): void {
  const { oracle, dice } = scene;
  const asked = askedFor(scene);
  if (asked === undefined) return;
  const { names, number } = asked;
  const other = [...oracle.votes.values()];
  const votes = other.length > 0 && dice.chance(0.2) ? { votes: dice.pick(other) } : {};
  const lied = names.filter(() => dice.chance(0.3));
  const sealed = dice.chance(0.3)
    ? { sealed: new Map(lied.map((name) => [toHex(name), oracle.ownParts(oracle.stored(name).upload.header)])) }
    : {};
  oracle.release(dice.pick(oracle.honest), names, number, { ...votes, ...sealed });
}

/** Outcomes from some authorities, including lying ones. Sometimes the question is about another epoch. */
function askOutcome({ oracle, dice, devices }: Scene): void {
  const device = dice.pick(devices);
  const { own } = device;
  const given = own.ledger.deltas.get(toHex(own.deltaId));
  if (given === undefined || own.session === undefined) return;
  const answers = oracle.honest.flatMap((keeper): ShotOutcomeOf[] => {
    const statement = askedStatement(keeper, given.epochs, dice.chance(0.2));
    if (statement === undefined || dice.chance(0.1)) return [];
    const outcome = keeper.outcome({ user: own.user, joinTag: given.joinTag, statement });
    return isRefused(outcome) ? [] : [{ authority: keeper.base.index, outcome }];
  });
  if (device.release([...answers, ...oracle.boughtOutcomes(device, 'expired')]).kind === 'free') own.leave();
}

function askedStatement(
  { base }: ShotAuthority,
  named: readonly { readonly authority: number; readonly statement: Uint8Array }[],
  isOther: boolean,
): Uint8Array | undefined {
  if (isOther) return base.core.liveEpochs[0]?.statement;
  return named.find(({ authority }) => authority === base.index)?.statement;
}

/** Logs a version of a batch, if it is final. */
function logVersion({ oracle, dice, asked }: Scene): void {
  if (asked.length === 0) return;
  const { names, number } = dice.pick(asked);
  try {
    oracle.tryLogVersion(names, number);
  } catch {
    // Too few authorities signed it.
  }
}

/** Adds this upload to the adversary's. */
function keep({ names }: Pick<Scene, 'names'>, name: Ctx | undefined): void {
  if (name !== undefined && !names.some((known) => toHex(known) === toHex(name))) names.push(name);
}
