/** The effect of `--rate`, `--damping`, `--leaf` and the chosen rates on the cells of a grid. */

import { type Cell, FEMNIST, MNIST } from '@basa/lab/experiments/tasks/tasks.ts';
import { CELL, exponential } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { changed } from '../../src/experiments/cells/changes.ts';

const cell = (changes: Partial<Cell> = {}): Cell => ({ ...CELL, task: MNIST, protocol: 'no SA', ...changes });
const RATES = { mnist: { buffers: 0.7, rounds: 0.4, users: 0.05 } };

describe('chosen rates', () => {
  it('are those of every protocol of their task', () => {
    const [plain, masked] = changed([cell(), cell({ protocol: 'SecAgg' })], { rates: RATES });
    for (const one of [plain, masked]) {
      expect(one?.task.step.buffers.rate).toBe(0.7);
      expect(one?.task.step.rounds.rate).toBe(0.4);
      expect(one?.task.learningRate).toBe(0.05);
    }
  });

  it('do not change seed 0, on which they are chosen, or other tasks', () => {
    const cells = [cell({ seed: 0 }), cell({ task: FEMNIST })];
    expect(changed(cells, { rates: RATES })).toEqual(cells);
  });

  it('are overridden by a rate that was asked for', () => {
    expect(changed([cell()], { rates: RATES, serverRate: 3 })[0]?.task.step.buffers.rate).toBe(3);
  });
});

it('cells that a change makes equal are merged', () => {
  const cells = [0, 3, 6].map((beta) => cell({ delay: exponential(beta) }));
  expect(changed(cells)).toHaveLength(3);
  expect(changed(cells, { beta: 2 })).toEqual([cell({ delay: exponential(2) })]);
});

it('places, concurrency and damping reach the cell', () => {
  const [one] = changed([cell()], { places: 14, concurrency: 50, damping: 1 });
  expect([one?.places, one?.concurrency, one?.task.step.buffers.damping]).toEqual([14, 50, 1]);
});

it('--leaf is only for FEMNIST', () => {
  const [mnist, femnist] = changed([cell(), cell({ task: FEMNIST })], { leaf: '/data' });
  expect(mnist?.task.leaf).toBeUndefined();
  expect(femnist?.task.leaf).toBe('/data');
});
