/** Rules for sums: a wrong sum of masks, words that are out of range, and noise that the server removes. */

import { concatBytes } from '@basa/masking';
import { addAuthorityNoise, frameHeader, maskSumCodec, releaseAnswerCodec, unframeHeader } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { THREE_OF_FOUR, type World } from '@basa/testkit/world/world.ts';
import { nodeTools } from '@basa/virtual-time';
import type { Adversary } from '../adversary.ts';
import { OracleDevice } from '../device.ts';
import type { Rule } from './rule.ts';

const { masks: tools } = nodeTools();

/** The position of the weight in x', and of a word of the update. */
const WEIGHT = 4;
const UPDATE = 7;
const FAR = 2 ** 30;

export const SUM_RULES: readonly Rule[] = [
  {
    id: 'agreed-sums',
    attack: 'an authority signs a wrong sum of masks',
    without: 'a sum of masks that only one authority vouches for',
    learned: ['a wrong sum became a model'],
    world: { shape: THREE_OF_FOUR, policy: { minimum: 3 } },
    async play({ world, trace }) {
      shiftSums(world);
      const model = await learnedBy(world, () => {});
      if (model !== undefined && !isExact(model)) trace.broken.add('a wrong sum became a model');
    },
    edits: [
      {
        file: 'protocol/src/wire/one-shot/policy.ts',
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
    world: {
      oneShot: { authorityNoise: true },
      policy: {
        minimum: 3,
        dimension: 64,
        level: 64,
        privacy: { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-5, participations: 10 } },
      },
    },
    play: denoised,
    edits: [
      {
        file: 'protocol/src/one-shot/noise.ts',
        find: 'suite.hkdf({ secret, salt: ctx,',
        replace: 'suite.hkdf({ secret: secret.map(() => 0), salt: ctx,',
      },
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
        file: 'protocol/src/server/judge-sum.ts',
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
        file: 'protocol/src/wire/input-words.ts',
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

/** The first authority adds one to a word of every sum, and signs that. */
function shiftSums({ authorities, wire }: World): void {
  const [liar] = authorities;
  wire.readers.push(({ host, path }, { body, status, headers }) => {
    if (liar === undefined || host !== liar.host || status !== 200 || !path.endsWith('/releases')) return undefined;
    const { header, bodyStart } = unframeHeader(body, 65_536);
    const { sums } = releaseAnswerCodec.decode(header);
    const vectors = body.slice(bodyStart);
    const length = vectors.length / sums.length;
    const told = sums.map(({ signature: _, ...sum }, n) => {
      const vector = vectors.subarray(n * length, (n + 1) * length);
      vector[vector.length - 18] = (vector[vector.length - 18] as number) ^ 1; // the last word of the update
      const wrong = { ...sum, hash: nodeSuite.sha256(vector) };
      return { ...wrong, signature: liar.signer.sign(maskSumCodec.statement(wrong)) };
    });
    return {
      status,
      headers,
      body: concatBytes(frameHeader(releaseAnswerCodec.encode({ sums: told })), vectors),
    };
  });
}
