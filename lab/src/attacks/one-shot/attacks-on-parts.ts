/** Attacks of the one-shot mode on the sealed parts of a device: parts that are copied, swapped, dealt inconsistently, or opened by an authority. */
import { applyMasksInPlace, Secret, toHex } from '@basa/masking';
import { type Ctx, guardWordsOf, isHolder, isRefused, type JoinTag, taskParts } from '@basa/protocol';
import type { ShotDevice } from '@basa/simulator';
import type { ShotOracle } from './shot-oracle.ts';
import { COUNCIL, type Colluder, colluders, HYBRID, honestUploads, type ShotAttack } from './shot-scene.ts';

export const ATTACKS_ON_PARTS: readonly ShotAttack[] = [
  {
    id: 'S1',
    schedule: "a colluder's upload has the sealed part of a victim",
    without: 'a part that is not bound to its device',
    learned: ['x of U0'],
    world: { minimum: 3 },
    play(oracle) {
      const [victim] = honestUploads(oracle, 1) as [Ctx];
      const [first, second, third] = colluders(oracle, 3) as readonly [Colluder, Colluder, Colluder];
      const { sealed } = oracle.world.shots.shown(oracle.stored(victim));
      const { header } = oracle.stored(first.name).upload;
      const joinTag = header.joinTag.map((byte) => byte ^ 1) as JoinTag;
      const forged = oracle.forge(first.device.own, { ...header, joinTag }, sealed);
      oracle.close([forged, second.name, third.name]);
    },
  },
  {
    id: 'S8',
    schedule: 'the server replaces the parts of all uploads but one with its own',
    without: 'sealed parts that are not compared with the signed header',
    learned: ['x of U0'],
    play(oracle) {
      const names = honestUploads(oracle, 3);
      for (const keeper of oracle.honest) oracle.vote(keeper, names);
      const [, ...others] = names;
      const sealed = new Map(others.map((name) => [toHex(name), oracle.ownParts(oracle.stored(name).upload.header)]));
      for (const keeper of oracle.honest) oracle.release(keeper, names, 0, { sealed });
    },
  },
  {
    id: 'S10',
    schedule: 'an authority that colludes with the server opens every part that it holds',
    without: 'parts that every authority holds',
    learned: ['x of U0', 'x of U1'],
    world: COUNCIL,
    play(oracle) {
      honestUploads(oracle, 2);
    },
  },
  {
    id: 'S11',
    schedule: 'a colluder deals a part that only some holders can open',
    without: 'a holder that compares only its own copy of a seed',
    learned: ['honest holders of a part disagree about it: good, bad'],
    world: COUNCIL,
    play: dealtApart,
  },
  {
    id: 'S24',
    schedule: 'a colluder deals a part with ML-KEM that only some holders can open',
    without: 'copies with ML-KEM that are not compared',
    learned: ['honest holders of a part disagree about it: good, bad'],
    world: { ...COUNCIL, ...HYBRID },
    play: dealtApart,
  },
  {
    id: 'S19',
    schedule: 'the server reads the answers of authorities that inspect an upload',
    without: 'an inspection that reveals more than the guard words',
    learned: ['more than the guard words is told'],
    /** Authorities reveal only the masks of the guard words. One more word would reveal a word of the update. */
    play(oracle) {
      const device = oracle.world.shooter();
      const first: string[] = [];
      listening(device, oracle, first);
      const [name] = [oracle.give(device)] as [Ctx];
      for (const keeper of oracle.honest) {
        const answer = oracle.inspect(keeper, [name]);
        if (isRefused(answer)) continue;
        const told = answer.verdicts.flatMap(({ guards }) => guards.map(({ words }) => words.join()));
        if (told.some((words) => !first.includes(words))) oracle.trace.broken.add('more than the guard words is told');
      }
    },
  },
];

/** The copy for one holder of the last part differs from the others. All holders of the part must judge it the same. */
function dealtApart(oracle: ShotOracle): void {
  const [{ device, name }] = colluders(oracle, 1) as readonly [Colluder];
  const { header } = oracle.stored(name).upload;
  const sealed = oracle.world.shots.shown(oracle.stored(name)).sealed.slice();
  sealed[sealed.length - 1] = (sealed.at(-1) as number) ^ 1;
  const forged = oracle.forge(device.own, header, sealed);
  const part = taskParts(oracle.world.policy).at(-1) as number;
  const holders = oracle.honest.filter(({ base }) => isHolder(part, base.index));
  const said = holders.map((keeper) => {
    const answer = oracle.inspect(keeper, [forged]);
    return isRefused(answer) ? answer.reason : answer.verdicts[0]?.verdict;
  });
  if (new Set(said).size > 1) oracle.trace.broken.add(`honest holders of a part disagree about it: ${said.join(', ')}`);
}

/** Called with the mask words that the device uses for the guards, of each part. */
function listening(device: ShotDevice, { world }: ShotOracle, told: string[]): void {
  const { tools } = world.environment;
  const before = device.onMask;
  device.onMask = (masking) => {
    before?.(masking);
    for (const term of masking.plan.terms) {
      const words = new Uint32Array(masking.vector.length);
      const own = { ...term, seed: new Secret(term.seed.reveal().slice()) };
      applyMasksInPlace(words, { ...masking.plan, terms: [own] }, tools);
      told.push(guardWordsOf(words).join());
    }
  };
}
