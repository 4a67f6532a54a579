/** Rules for sums: a wrong sum of masks, words that are out of range, and noise that the server removes. */

import { concatBytes } from '@basa/masking';
import { frameHeader, maskSumCodec, releaseAnswerCodec, unframeHeader } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { THREE_OF_FOUR, type World } from '@basa/testkit/world/world.ts';
import type { Adversary } from '../adversary.ts';
import { OracleDevice } from '../device.ts';
import type { Rule } from './rule.ts';

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
    const { sums, vote } = releaseAnswerCodec.decode(header);
    const vectors = body.slice(bodyStart);
    const length = vectors.length / sums.length;
    const told = sums.map(({ signature: _, ...sum }, n) => {
      const vector = vectors.subarray(n * length, (n + 1) * length);
      vector[vector.length - 20] = (vector[vector.length - 20] as number) ^ 1;
      const wrong = { ...sum, hash: nodeSuite.sha256(vector) };
      return { ...wrong, signature: liar.signer.sign(maskSumCodec.statement(wrong)) };
    });
    return {
      status,
      headers,
      body: concatBytes(frameHeader(releaseAnswerCodec.encode({ vote, sums: told })), vectors),
    };
  });
}
