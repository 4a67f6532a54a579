/** Protocols that differ only in cost learn the same, bit by bit. */
import type { AggregationProtocol } from '@basa/baselines';
import { PlainScheme, rounds, Timeline } from '@basa/simulator';
import {
  orderDigest,
  PROTOCOLS,
  partiesOf,
  scheduleOf,
  type TrainOrder,
  trainOrder,
} from '@basa/simulator/virtual-time';
import { expect, it } from 'vitest';
import { fleetOf } from './fleet.ts';
import { tinyTask, tinyTrainer } from './tiny-task.ts';

const free = { addSeconds: 0 };
const freeRounds = {
  setupSeconds: 0,
  isOverlapped: true,
  maskSeconds: 0,
  recoverySeconds: () => 0,
  threshold: 1,
};

it('a buffer as large as the cohort, filled by all devices at the same time, is FedAvg', () => {
  const fleet = fleetOf(0, { users: 12, concurrency: 12, bufferSize: 12 });
  const timeline = new Timeline(fleet);
  const buffered = scheduleOf(timeline.run(new PlainScheme(timeline, free)), 5);
  const inRounds = scheduleOf(rounds(fleet, freeRounds), 5);
  expect(buffered.order.flat()).toHaveLength(60);
  expect(orderDigest(buffered.order)).toBe(orderDigest(inRounds.order));
  expect(buffered.times).toEqual(inRounds.times);
});

const fleet = fleetOf(3, { users: tinyTask.users, concurrency: 8, bufferSize: 4 });

function tinyRun(parties: TrainOrder['parties'], level: number | undefined = 2 ** 16) {
  const timeline = new Timeline(fleet);
  const { order } = scheduleOf(timeline.run(new PlainScheme(timeline, free)), 6);
  const request = { order, seed: 1, maxExamples: 20, step: { rate: 1, momentum: 0 }, target: 2, partiesEvery: 1 };
  return trainOrder({ ...request, level, parties }, tinyTask, tinyTrainer);
}

it('every protocol gives the sum of the quantised updates, so that all of them learn the same', async () => {
  const secure = PROTOCOLS.filter((name) => name !== 'no SA');
  const trained = await tinyRun((users) => secure.map((name) => partiesOf(name, users) as AggregationProtocol));
  expect(trained.partySums).toBe(6 * secure.length);
  expect(trained.accuracy).toEqual((await tinyRun(() => [])).accuracy);
  expect(trained.clipped).toBe(0);
});

it('a protocol that gives another sum is noticed', async () => {
  const honest = partiesOf('SecAgg', 4) as AggregationProtocol;
  const wrong: AggregationProtocol = {
    ...honest,
    aggregate(gathering, observer) {
      const found = honest.aggregate(gathering, observer);
      if (found.kind === 'sum') found.sum[3] = ((found.sum[3] ?? 0) + 1) >>> 0;
      return found;
    },
  };
  await expect(tinyRun(() => [wrong])).rejects.toThrow('SecAgg gave another sum');
});

it('quantising at 2^16 moves the accuracy by little, at 2^1 it is another run', async () => {
  const floats = await tinyRun(() => [], undefined);
  expect((await tinyRun(() => [])).accuracy.at(-1)?.[1]).toBeCloseTo(floats.accuracy.at(-1)?.[1] ?? 0, 1);
  expect((await tinyRun(() => [], 2)).accuracy).not.toEqual(floats.accuracy);
});
