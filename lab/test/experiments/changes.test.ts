/** The effect of `--rate`, `--damping`, `--leaf` and the chosen rates on the cells of a grid. */

import { type Cell, FEMNIST, FIRST_SEED, MNIST } from '@basa/lab/experiments/tasks/tasks.ts';
import { CELL, exponential } from '@basa/simulator/virtual-time';
import { describe, expect, it } from 'vitest';
import { changed } from '../../src/experiments/cells/changes.ts';

const cell = (changes: Partial<Cell> = {}): Cell => ({
  ...CELL,
  task: MNIST,
  protocol: 'no SA',
  seed: FIRST_SEED,
  ...changes,
});
const RATES = { mnist: { users: 0.05, lines: { 'no SA': 0.7, SecAgg: 0.4 } } };

describe('chosen rates', () => {
  it('are those of each line, or of its protocol if the line has none of its own', () => {
    const cells = [cell(), cell({ protocol: 'SecAgg' }), cell({ protocol: 'SecAgg', line: 'SecAgg, 24 of 32' })];
    const [plain, masked, first] = changed(cells, { rates: RATES });
    expect(plain?.task.step.buffers.rate).toBe(0.7);
    expect([masked?.task.step.rounds.rate, first?.task.step.rounds.rate]).toEqual([0.4, 0.4]);
    for (const one of [plain, masked, first]) expect(one?.task.learningRate).toBe(0.05);
  });

  it('do not change the seeds on which they are chosen, or other tasks', () => {
    const cells = [cell({ seed: 0 }), cell({ seed: FIRST_SEED - 1 }), cell({ task: FEMNIST })];
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

it('Kmin, target, momentum and drop-outs reach the cell, and the settings of a line stay', () => {
  const policy = { versionMinimum: 3 };
  const [one] = changed([cell({ policy })], { minimum: 6, target: 0.7, momentum: 0.5, dropouts: 0.2 });
  expect(one?.policy).toEqual({ versionMinimum: 3, minimum: 6 });
  expect([one?.task.target, one?.task.step.buffers.momentum, one?.dropouts]).toEqual([0.7, 0.5, 0.2]);
});

it('--leaf is only for FEMNIST', () => {
  const [mnist, femnist] = changed([cell(), cell({ task: FEMNIST })], { leaf: '/data' });
  expect(mnist?.task.leaf).toBeUndefined();
  expect(femnist?.task.leaf).toBe('/data');
});
