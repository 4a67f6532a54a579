/** The moves of a schedule: each is one action of a device, one attempt of the adversary, or something that happens to an authority. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { AuthorityParty } from '@basa/testkit/world/authority-party.ts';
import type { Adversary } from './adversary.ts';
import type { OracleDevice } from './device.ts';
import type { Dice } from './dice.ts';

/** The material of the moves. */
export interface Scene {
  readonly adversary: Adversary;
  readonly dice: Dice;
  readonly devices: readonly OracleDevice[];
  readonly colluders: readonly OracleDevice[];
  /** All uploads, including forged ones. */
  readonly names: Ctx[];
  /** Batches that were asked for. */
  readonly asked: Asked[];
  /** Ways back to the copies of authorities' disks. */
  readonly copies: { readonly party: AuthorityParty; back(): Promise<void> }[];
}

interface Asked {
  readonly names: readonly Ctx[];
  readonly number: number;
}

type Move = (scene: Scene) => Promise<unknown>;

const HOUR_MS = 3_600_000;

export const MOVES: Readonly<Record<string, Move>> = {
  'a device gives': give,
  'a device gives, again': give,
  'a device crashes when its upload has left': async (scene) => {
    const device = scene.dice.pick(scene.devices);
    keep(scene, await scene.adversary.give(device, { crashes: true }));
    await device.restart();
  },
  'a colluder gives': async (scene) => {
    if (scene.colluders.length > 0) keep(scene, await scene.adversary.give(scene.dice.pick(scene.colluders)));
  },
  "a colluder's upload has the parts of another": (scene) => forge(scene, true),
  "a colluder's upload has the tag of another": (scene) => forge(scene, false),
  "an upload is inspected with parts of the server's own": async ({ adversary, dice, names }) => {
    if (names.length === 0) return;
    const name = dice.pick(names);
    await adversary.inspect(dice.pick(adversary.honest), [name], { sealed: ownParts(adversary, [name]) });
  },
  'a batch is asked for': vote,
  'a batch is asked for, again': vote,
  'every authority is asked for one batch': voteAll,
  'every authority is asked for one batch, again': voteAll,
  'a vote is recorded, and its answer lost with the process': async (scene) => {
    const asked = askedFor(scene);
    if (asked === undefined) return;
    const { adversary, dice } = scene;
    const party = dice.pick(adversary.honest);
    const { faults } = adversary.world.wire;
    faults.push(({ host, path }) => (host === party.host && /vote|release/.test(path) ? 'answer-lost' : undefined));
    await adversary.vote(party, asked.names).catch(ignoreLoss);
    faults.pop();
    await party.restart();
  },
  'a batch is released': release,
  'a batch is released, again': release,
  'the disk of an authority is copied': async ({ adversary, copies, dice }) => {
    const party = dice.pick(adversary.honest);
    copies.push({ party, back: party.copied() });
  },
  'an authority is restored': async ({ copies, dice }) => {
    if (copies.length > 0) await dice.pick(copies).back();
  },
  'an authority starts again': ({ adversary, dice }) => dice.pick(adversary.honest).restart(),
  'a clock is wrong': async ({ adversary, dice }) => {
    dice.pick(adversary.honest).aheadMs = dice.pick([-1, -0.25, 0, 0, 0.01, 1.5]) * HOUR_MS;
  },
  'time passes': ({ adversary, dice }) => adversary.wait(dice.pick([0.01, 0.01, 0.5, 1.25, 3]) * HOUR_MS),
};

function ignoreLoss(error: unknown): void {
  if (!(error instanceof TypeError)) throw error;
}

/** On the newest model, or on one that was kept. */
async function give(scene: Scene): Promise<void> {
  const { adversary, dice, devices } = scene;
  adversary.shown = adversary.kept.length > 0 && dice.chance(0.2) ? dice.pick(adversary.kept) : undefined;
  keep(scene, await adversary.give(dice.pick(devices)));
  adversary.shown = undefined;
}

/** The header of a colluder that carries something of another upload. */
async function forge(scene: Scene, hasParts: boolean): Promise<void> {
  const { adversary, colluders, dice, names } = scene;
  const able = colluders.filter(({ certificate }) => certificate !== undefined);
  if (able.length === 0 || names.length === 0) return;
  const device = dice.pick(able);
  const victim = adversary.upload(dice.pick(names));
  const own = { ...victim.header, user: device.user };
  keep(scene, await adversary.forge(device, own, hasParts ? victim : adversary.ownParts(own)));
}

/** A list of uploads: often a short one without repetitions, sometimes an earlier list in another order. */
function askedFor({ dice, names, asked, adversary }: Scene): Asked | undefined {
  if (names.length === 0) return undefined;
  const { bufferSize } = adversary.policy;
  const before = asked.length > 0 && dice.chance(0.4) ? dice.pick(asked) : undefined;
  if (before !== undefined && dice.chance(0.7)) return before;
  const list = before === undefined ? dice.shuffled(names).slice(0, 1 + dice.below(bufferSize)) : before.names;
  const changed = dice.chance(0.1) ? [...list, dice.pick(list)] : dice.shuffled(list);
  const one = { names: changed, number: dice.below(2) };
  asked.push(one);
  return one;
}

async function vote(scene: Scene): Promise<void> {
  const asked = askedFor(scene);
  if (asked !== undefined) await scene.adversary.vote(scene.dice.pick(scene.adversary.honest), asked.names);
}

async function voteAll(scene: Scene): Promise<void> {
  const asked = askedFor(scene);
  if (asked === undefined) return;
  for (const party of scene.adversary.honest) await scene.adversary.vote(party, asked.names);
}

/** With the votes so far, or with those of another batch; now and then with the server's own parts. */
async function release(scene: Scene): Promise<void> {
  const { adversary, dice } = scene;
  const asked = askedFor(scene);
  if (asked === undefined) return;
  const { names } = asked;
  const others = [...adversary.votes.values()];
  const votes = others.length > 0 && dice.chance(0.2) ? { votes: dice.pick(others) } : {};
  const lied = names.filter(() => dice.chance(0.3));
  const sealed = dice.chance(0.3) ? { sealed: ownParts(adversary, lied) } : {};
  await adversary.release(dice.pick(adversary.honest), names, { ...votes, ...sealed });
}

function ownParts(adversary: Adversary, names: readonly Ctx[]): ReadonlyMap<string, Uint8Array> {
  return new Map(names.map((name) => [toHex(name), adversary.ownParts(adversary.upload(name).header).sealed]));
}

/** Adds this upload to the adversary's. */
function keep({ names }: Pick<Scene, 'names'>, name: Ctx | undefined): void {
  if (name !== undefined && !names.some((known) => toHex(known) === toHex(name))) names.push(name);
}
