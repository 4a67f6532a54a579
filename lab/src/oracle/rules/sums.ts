/** Rules for sums: a wrong sum of masks, words that are out of range, and noise that the server removes. */

import { addAuthorityNoise } from '@basa/protocol/internal/one-shot/parts.ts';
import { nodeSuite } from '@basa/runtime/node';
import { nodeTools } from '@basa/simulator/virtual-time';
import { lieAboutSums } from '@basa/testkit/world/lies.ts';
import { THREE_OF_FOUR, type World } from '@basa/testkit/world/world.ts';
import type { Adversary } from '../adversary.ts';
import { OracleDevice } from '../device.ts';
import { ignoreRefusedEncoding, type Rule, UPLOAD_USED, withAuthorityNoise } from './rule.ts';

const { masks: tools } = nodeTools();
const NOISE = 'protocol/src/one-shot/parts.ts';

/** The position of the weight in x', and of a word of the update. */
const WEIGHT = 4;
const UPDATE = 7;
const FAR = 2 ** 30;
/** A byte of the last word of the update in a packed vector: behind it are four guard words. */
const LAST_OF_UPDATE = -18;

export const SUM_RULES: readonly Rule[] = [
  {
    id: 'agreed-sums',
    attack: 'an authority signs a wrong sum of masks',
    without: 'a sum of masks that only one authority vouches for',
    learned: ['a wrong sum became a model'],
    world: { shape: THREE_OF_FOUR, policy: { minimum: 3 } },
    async play({ world, trace }) {
      lieAboutSums(world, (index) => index === 0, LAST_OF_UPDATE);
      const model = await learnedBy(world, () => {});
      if (model !== undefined && !isExact(model)) trace.broken.add('a wrong sum became a model');
    },
    edits: [
      {
        file: 'protocol/src/wire/one-shot-policy.ts',
        find: 'return tolerated + 1;',
        replace: 'return tolerated + 1 - tolerated;',
      },
    ],
  },
  {
    id: 'secret-noise',
    attack: 'the server removes the noise that the authority added',
    without: 'noise that the server can compute',
    learned: ['the server computes the noise'],
    world: withAuthorityNoise(10),
    play: denoised,
    edits: [
      {
        file: NOISE,
        find: 'suite.hkdf({ secret, salt: ctx,',
        replace: 'suite.hkdf({ secret: secret.map(() => 0), salt: ctx,',
      },
    ],
  },
  {
    id: 'noise-of-the-batch',
    attack: 'the server asks twice for the sum of a batch, and takes the mean of the noise',
    without: 'noise that is drawn for every answer',
    learned: ['the noise is drawn anew for every answer'],
    world: withAuthorityNoise(10),
    play: denoised,
    edits: [
      {
        file: NOISE,
        find: 'suite.hkdf({ secret, salt: ctx,',
        replace: 'suite.hkdf({ secret, salt: crypto.getRandomValues(new Uint8Array(32)),',
      },
    ],
  },
  {
    id: 'ascending-batches',
    attack: 'the server asks for a batch and for the same uploads in another order',
    without: 'a set of uploads that is two batches',
    learned: ['the noise is drawn twice for one set of uploads'],
    world: withAuthorityNoise(10),
    async play(adversary) {
      const names = await adversary.honestUploads(3);
      const sums: string[] = [];
      for (const lie of [{}, { isDescending: true } as const])
        for (const party of adversary.honest) {
          await adversary.vote(party, names, lie).catch(ignoreRefusedEncoding);
          const [sum] = (await adversary.release(party, names, lie).catch(ignoreRefusedEncoding)) ?? [];
          if (sum !== undefined) sums.push(sum.join());
        }
      if (new Set(sums).size > 1) adversary.trace.broken.add('the noise is drawn twice for one set of uploads');
    },
    edits: [
      {
        file: 'protocol/src/wire/upload.ts',
        find: 'toHex(uploads[n - 1] as Ctx) < toHex(name)',
        replace: 'toHex(uploads[n - 1] as Ctx) !== toHex(name)',
      },
      UPLOAD_USED,
    ],
  },
  {
    id: 'words-in-range',
    attack: 'a device gives an update with a coordinate that is out of range',
    without: 'coordinates that are not checked',
    learned: ['a sum that is out of range becomes a model'],
    world: { policy: { minimum: 3 } },
    play: (adversary) => spoilt(adversary, UPDATE),
    edits: [
      {
        file: 'protocol/src/one-shot/sums.ts',
        find: 'return offender < 0 ? undefined :',
        replace: 'return offender < 0 || first >= 0 ? undefined :',
      },
    ],
  },
  {
    id: 'weights-in-range',
    attack: 'a device gives an update with a weight that is out of range',
    without: 'weights that are not checked',
    learned: ['a sum that is out of range becomes a model'],
    world: { policy: { minimum: 3 } },
    play: (adversary) => spoilt(adversary, WEIGHT),
    edits: [
      {
        file: 'protocol/src/wire/input.ts',
        find: 'weightSum > accepted * weightScale)',
        replace: 'weightSum < 0)',
      },
    ],
  },
];

/** Two answers, and one with noise that the server can make up in place of the secrets of the epochs. */
async function denoised(adversary: Adversary): Promise<void> {
  const { honest, policy, trace } = adversary;
  const [party] = honest;
  const names = await adversary.honestUploads(3);
  if (party === undefined) throw new Error('no authority');
  await adversary.vote(party, names);
  const [first] = (await adversary.release(party, names)) ?? [];
  const [second] = (await adversary.release(party, names)) ?? [];
  if (first === undefined || second === undefined) return;
  const masks = adversary.sumOfMasks(names);
  const guessed = masks.slice();
  addAuthorityNoise(guessed, { suite: nodeSuite, tools }, policy, [new Uint8Array(32)], adversary.ctxOf(names));
  if (first.join() !== second.join()) trace.broken.add('the noise is drawn anew for every answer');
  if (guessed.join() === first.join()) trace.broken.add('the server computes the noise');
  if (masks.join() === first.join()) trace.broken.add('the sum has no noise');
}

/** Server and authorities are honest. One device changes a word of its input. */
async function spoilt({ trace, world }: Adversary, word: number): Promise<void> {
  const model = await learnedBy(world, (input) => input.fill(FAR, word, word + 1));
  // A spoilt sum is none: the model may be repeated under the next version.
  if (model?.some((value) => value !== 0)) trace.broken.add('a sum that is out of range becomes a model');
}

/** Three devices give to an honest server, of which the last lies. Undefined if no model comes of it. */
async function learnedBy(world: World, change: OracleDevice['change']): Promise<Float32Array | undefined> {
  world.wire.faults.length = 0;
  for (let n = 0; n < 3; n++) {
    const device = await OracleDevice.enrolled(world, false, n);
    if (n === 2) device.change = change;
    world.elapse(1000);
    const refusal = await device.give();
    if (refusal !== undefined) throw new Error(`a device was refused: ${refusal}`);
  }
  return world.reached(1, TURNS).then(
    ({ parameters }) => parameters,
    () => undefined,
  );
}

const TURNS = 60;

/** Minus a third at the places of the three devices. */
function isExact(model: Float32Array): boolean {
  return model.every((value, n) => Math.abs(value + (n < 3 ? 1 / 3 : 0)) < 1e-3);
}
