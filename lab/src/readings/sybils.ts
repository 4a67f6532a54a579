/** Sybils by the book: the operator of the task has what the guide gives it, and lets nine devices of its own in beside a victim. */
import { defineModel, dense, flatten, initialParameters, type Samples } from '@basa/learning';
import { deviceStore } from '@basa/testkit/world/world.ts';
import { Fleet } from './fleet.ts';
import { allow, BY_THE_BOOK } from './owners.ts';
import { picturesFor, SAME_PICTURE } from './pictures.ts';
import { cosine, noiseAt, type Play, type Reading, type ReadingAttack } from './reading.ts';

const SYBILS = 9;
const EACH = 20;

async function sybils({ level, seed }: Play): Promise<Reading> {
  const { shares } = await picturesFor(1, EACH, seed);
  const [share] = shares as readonly [Samples];
  const model = defineModel('digits', { height: 28, width: 28, channels: 1 }, [flatten, dense(10)]);
  const initial = initialParameters(model, seed);
  const fleet = await Fleet.open({ authority: BY_THE_BOOK });
  const { world } = fleet;
  try {
    const bufferSize = 1 + SYBILS;
    const task = {
      model,
      initial,
      bufferSize,
      noise: noiseAt(level, { bufferSize, dimension: model.dimension }),
      examples: EACH,
      clip: 1,
    };
    const { trainer } = await fleet.create({ ...task, learningRate: 0.1 });
    const stores = Array.from({ length: bufferSize }, () => deviceStore());
    const [own, ...theirs] = stores.map(({ signer }) => signer.publicKey) as [Uint8Array, ...Uint8Array[]];
    await allow(world, [own], 'owner');
    if (!(await allow(world, theirs, 'operator'))) return { read: 0, of: 1 };
    const devices = await fleet.devicesOf(stores);
    for (const [n, device] of devices.entries()) {
      if (n === 0) await fleet.give(device, share);
      else await fleet.giveZeros(device);
    }
    const request = { start: initial, samples: share, batchSize: EACH, learningRate: 0.1, seed: 1 };
    return { read: cosine(await fleet.sum(), trainer.train(request).delta) >= SAME_PICTURE ? 1 : 0, of: 1 };
  } finally {
    await fleet.close();
  }
}

export const SYBILS_READ: ReadingAttack = {
  id: 'sybils',
  attack: 'the operator of the task lets nine devices of its own in beside a victim, which give zeros',
  counts: 'the update of the victim (cosine of at least 0.95)',
  sizes: 'K = 10',
  mayRead: ['none'],
  without: {
    rule: 'the token for tasks, which the operator has, may do everything',
    edits: [
      {
        file: 'service/src/http/operators.ts',
        find: 'if (roles.some((role) => wanted.includes(role))) return;',
        replace: "if (roles.some((role) => role === 'tasks' || wanted.includes(role))) return;",
      },
    ],
  },
  play: sybils,
};
