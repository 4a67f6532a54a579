/**
 * Trap weights (Boenisch et al., Fowl et al., Wen et al.): rows of the first layer fire for about one picture of all devices each. The
 * gradient of such a row is the picture, and the sum of all updates has it unchanged.
 */
import {
  createKernelBackend,
  createTrainer,
  defineModel,
  dense,
  flatten,
  type Model,
  randomStream,
  relu,
  type Samples,
} from '@basa/learning';
import { createTrainingKernel } from '@basa/runtime/node';
import { Fleet } from './fleet.ts';
import { dot, openPictures, PIXELS, pictureFilter, pictureOf, picturesFor, picturesRead } from './pictures.ts';
import type { Play, Reading, ReadingAttack } from './reading.ts';

interface Trap {
  readonly row: Float32Array;
  /** It fires above this. */
  readonly from: number;
}

/** Random directions; each threshold is passed by this share of the public pictures. */
function trapsFor({ dataset, indices }: Samples, count: number, share: number): readonly Trap[] {
  const random = randomStream(1, 'traps');
  const rank = Math.max(1, Math.round(share * indices.length));
  const pictures = Array.from(indices, (n) => pictureOf(dataset, n));
  return Array.from({ length: count }, () => {
    const row = Float32Array.from({ length: PIXELS }, () => random.normal() / Math.sqrt(PIXELS));
    const scores = Float32Array.from(pictures, (picture) => dot(row, picture))
      .sort()
      .reverse();
    return { row, from: ((scores[rank - 1] as number) + (scores[rank] as number)) / 2 };
  });
}

interface Pond {
  readonly devices: number;
  readonly each: number;
  readonly traps: number;
  /** Public pictures from which the adversary learns. */
  readonly open: number;
}

interface Bait {
  readonly model: Model;
  readonly initial: Float32Array;
  /** The rows of traps, at their offsets. */
  readonly rows: readonly number[];
  readonly learningRate: number;
  readonly clip: number;
}

const SHAPE = { height: 28, width: 28, channels: 1 };

/** The step is so large that every update is longer than the clip. */
const CLIP = 1;

/** A network with one hidden layer: its rows are small, so that nothing else moves, and what follows is large. */
function hiddenBait(traps: readonly Trap[]): Bait {
  const model = defineModel('mlp', SHAPE, [flatten, dense(traps.length), relu, dense(10)]);
  const [weight, bias, next] = model.manifest as [Place, Place, Place];
  const initial = new Float32Array(model.dimension);
  const random = randomStream(2, 'bait');
  for (const [n, { row, from }] of traps.entries()) {
    for (let k = 0; k < PIXELS; k++) initial[weight.offset + n * PIXELS + k] = SMALL * (row[k] as number);
    initial[bias.offset + n] = -SMALL * from;
  }
  for (let n = 0; n < next.length; n++) initial[next.offset + n] = 100 * random.normal();
  return { model, initial, rows: traps.map((_, n) => weight.offset + n * PIXELS), learningRate: 1, clip: CLIP };
}

const SMALL = 1e-4;
type Place = Model['manifest'][number];

/** No hidden layer, and classes that no device has: each of their rows is a trap. The ten others classify well, so that they are silent. */
function classBait(traps: readonly Trap[], samples: Samples): Bait {
  const model = defineModel('softmax regression', SHAPE, [flatten, dense(10 + traps.length)]);
  const [weight, bias] = model.manifest as [Place, Place];
  const digits = createTrainer(
    createKernelBackend(
      defineModel('digits', SHAPE, [flatten, dense(10)]),
      createTrainingKernel() as NonNullable<ReturnType<typeof createTrainingKernel>>,
    ),
  );
  const start = new Float32Array(digits.model.dimension);
  const { delta } = digits.train({ start, samples, epochs: 5, batchSize: 20, learningRate: 0.1, seed: 1 });
  const initial = new Float32Array(model.dimension);
  for (let n = 0; n < 10 * PIXELS; n++) initial[weight.offset + n] = -LOUD * (delta[n] as number);
  for (let n = 0; n < 10; n++) initial[bias.offset + n] = -LOUD * (delta[10 * PIXELS + n] as number);
  for (const [n, { row, from }] of traps.entries()) {
    for (let k = 0; k < PIXELS; k++) initial[weight.offset + (10 + n) * PIXELS + k] = STEEP * (row[k] as number);
    initial[bias.offset + 10 + n] = -STEEP * from;
  }
  const rows = traps.map((_, n) => weight.offset + (10 + n) * PIXELS);
  return { model, initial, rows, learningRate: 10 * CLIP, clip: CLIP };
}

const LOUD = 50;
const STEEP = 1e5;

/** Public pictures from which the filter is made. */
const FILTERED = 2000;

const baits = new Map<string, Bait>();
/** By the number of public pictures. */
const filters = new Map<number, ReturnType<typeof pictureFilter>>();

async function baitFor({ devices, each, traps, open }: Pond, baitOf: typeof classBait): Promise<Bait> {
  const name = [baitOf.name, devices * each, traps, open].join();
  const known = baits.get(name);
  if (known !== undefined) return known;
  const samples = await openPictures(open);
  const bait = baitOf(trapsFor(samples, traps, 1 / (devices * each)), samples);
  baits.set(name, bait);
  return bait;
}

async function filterFor({ open }: Pond): Promise<ReturnType<typeof pictureFilter>> {
  const count = Math.min(open, FILTERED);
  const filter = filters.get(count) ?? pictureFilter(await openPictures(count));
  filters.set(count, filter);
  return filter;
}

async function fish({ level, seed }: Play, pond: Pond, baitOf: typeof classBait): Promise<Reading> {
  const { devices, each } = pond;
  const pictures = await picturesFor(devices, each, seed);
  const { model, initial, rows, learningRate, clip } = await baitFor(pond, baitOf);
  return Fleet.run(async (fleet) => {
    const task = { level, model, initial, bufferSize: devices, examples: each, learningRate, clip };
    const { noise } = await fleet.create(task);
    const sum = await fleet.sumOf(pictures.shares);
    const read = rows.map((offset) => sum.subarray(offset, offset + PIXELS));
    const filter = noise === undefined ? () => [] : await filterFor(pond);
    const guesses = [...read, ...read.flatMap((row) => filter(row, (noise ?? 0) * clip))];
    return { read: picturesRead(guesses, pictures.private), of: devices * each };
  });
}

const COUNTS = 'pictures of devices, each with a cosine of at least 0.95 to a row of the sum, as it is or filtered';

export const FISH: ReadingAttack = {
  id: 'fish',
  attack: 'the server chooses a network whose first layer has a trap in each row',
  counts: COUNTS,
  sizes: 'K = 100 without noise, else K = 10',
  mayRead: ['none'],
  play(play) {
    const devices = play.level === 'none' && !play.isSmall ? 100 : 10;
    return fish(play, { devices, ...pondFor(play, 256) }, hiddenBait);
  },
};

export const FISH_LR: ReadingAttack = {
  id: 'fish-lr',
  attack: 'the same with softmax regression with classes that no device has: their rows are traps',
  counts: COUNTS,
  sizes: 'K = 10',
  mayRead: ['none'],
  play(play) {
    return fish(play, { devices: 10, ...pondFor(play, 52) }, classBait);
  },
};

/** With noise, a device must have one picture in few traps: its whole update is then that picture. */
function pondFor({ level, isSmall }: Play, traps: number): Omit<Pond, 'devices'> {
  if (isSmall) return { each: 10, traps: level === 'none' ? 30 : 6, open: 500 };
  return { each: 60, traps: level === 'none' ? traps : 16, open: 10_000 };
}
