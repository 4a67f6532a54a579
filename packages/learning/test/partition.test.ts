import { describe, expect, it } from 'vitest';
import {
  describePartition,
  type PartitionStatistics,
  partitionByDirichlet,
  partitionByShards,
  partitionByWriter,
  partitionEvenly,
  partitionStatistics,
  plotPartition,
} from '../src/index.ts';

/** Labels of a balanced dataset, and MNIST's own class sizes. */
const balanced = (examples: number): Uint8Array => Uint8Array.from({ length: examples }, (_, n) => n % 10);
const MNIST_CLASSES = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
const mnistLabels = Uint8Array.from(MNIST_CLASSES.flatMap((count, label) => new Array<number>(count).fill(label)));

/** Means over 8 draws by FedML's rule, made apart from this code; one draw of the largest size varies by 15 %. */
const TABLE: readonly (readonly [string, Uint8Array, number, Partial<PartitionStatistics>])[] = [
  [
    'MNIST, 1000 users',
    mnistLabels,
    1000,
    {
      min: 11.9,
      p10: 34,
      median: 61,
      mean: 60,
      p90: 82,
      max: 166,
      deviation: 19,
      classesPerUser: 7,
      topClassShare: 0.43,
    },
  ],
  [
    'CIFAR, 100 users',
    balanced(50_000),
    100,
    {
      min: 139,
      p10: 296,
      median: 513,
      mean: 500,
      p90: 672,
      max: 1121,
      deviation: 164,
      classesPerUser: 8.2,
      topClassShare: 0.42,
    },
  ],
  [
    'CIFAR, 200 users',
    balanced(50_000),
    200,
    {
      min: 59,
      p10: 144,
      median: 257,
      mean: 250,
      p90: 337,
      max: 582,
      deviation: 80,
      classesPerUser: 7.9,
      topClassShare: 0.42,
    },
  ],
];
const TOLERANCE: Readonly<Partial<Record<keyof PartitionStatistics, number>>> = { min: 0.2, max: 0.12, mean: 1e-9 };
const SEEDS = Array.from({ length: 24 }, (_, n) => 100 + n);

describe('the Dirichlet partition', () => {
  it.each(TABLE)('has the statistics of independent draws: %s', (_, labels, users, expected) => {
    const draws = SEEDS.map((seed) => {
      const partition = partitionByDirichlet({ labels, classes: 10, users, alpha: 0.5, seed });
      expect(partition.tries).toBeLessThanOrEqual(20);
      return partitionStatistics(partition.users, labels);
    });
    for (const [key, value] of Object.entries(expected) as [keyof PartitionStatistics, number][]) {
      const mean = draws.reduce((sum, draw) => sum + draw[key], 0) / draws.length;
      expect(Math.abs(mean - value), `${key}: ${mean} for ${value}`).toBeLessThanOrEqual(
        (TOLERANCE[key] ?? 0.05) * value,
      );
    }
  });

  it('gives every example to exactly one user, and at least 10 to each', () => {
    const { users } = partitionByDirichlet({ labels: mnistLabels, classes: 10, users: 1000, alpha: 0.5, seed: 1 });
    const given = users.flatMap((indices) => [...indices]).sort((a, b) => a - b);
    expect(given).toEqual(Array.from(mnistLabels, (_, index) => index));
    expect(Math.min(...users.map(({ length }) => length))).toBeGreaterThanOrEqual(10);
  });

  it('is the same for the same seed and another for another', () => {
    const draw = (seed: number) =>
      partitionByDirichlet({ labels: balanced(5000), classes: 10, users: 20, alpha: 0.5, seed });
    expect(draw(3)).toEqual(draw(3));
    expect(draw(3)).not.toEqual(draw(4));
  });

  it('is more equal the larger alpha is', () => {
    const share = (alpha: number): number => {
      const labels = balanced(20_000);
      const { users } = partitionByDirichlet({ labels, classes: 10, users: 50, alpha, seed: 1 });
      return partitionStatistics(users, labels).topClassShare;
    };
    expect(share(0.1)).toBeGreaterThan(share(0.5) + 0.1);
    expect(share(0.5)).toBeGreaterThan(share(100) + 0.1);
  });

  it('refuses more users than it has examples for, and a wrong alpha', () => {
    const request = { labels: balanced(100), classes: 10, users: 11, alpha: 0.5, seed: 1 };
    expect(() => partitionByDirichlet(request)).toThrow('cannot be shared');
    expect(() => partitionByDirichlet({ ...request, users: 2, alpha: 0 })).toThrow('alpha');
  });
});

describe('the other partitions', () => {
  it('iid: sizes differ by at most one, and every example is assigned', () => {
    const users = partitionEvenly(103, 10, 1);
    expect(new Set(users.map(({ length }) => length))).toEqual(new Set([10, 11]));
    expect(new Set(users.flatMap((indices) => [...indices])).size).toBe(103);
  });

  it('shards: a user of two shards has at most a few classes', () => {
    const labels = balanced(1000);
    const users = partitionByShards(labels, 50, 2, 1);
    const statistics = partitionStatistics(users, labels);
    expect(statistics.classesPerUser).toBeLessThanOrEqual(2);
    expect([statistics.min, statistics.max]).toEqual([20, 20]);
    expect(new Set(users.flatMap((indices) => [...indices])).size).toBe(1000);
  });

  it('by writer: one user each, in order of appearance', () => {
    expect(partitionByWriter([7, 3, 7, 7, 3, 9]).map((indices) => [...indices])).toEqual([[0, 2, 3], [1, 4], [5]]);
  });
});

it('statistics are printed in one line and plotted', () => {
  const users = [Uint32Array.of(0, 1), Uint32Array.of(2, 3, 4, 5), Uint32Array.of(6)];
  const labels = Uint8Array.of(0, 1, 1, 1, 1, 0, 2);
  expect(describePartition(partitionStatistics(users, labels))).toBe(
    '3 users, 7 examples: min 1, p10 1.2, median 2, mean 2.3, p90 3.6, max 4, sd 1.2; 1.7 classes a user, top class 0.75',
  );
  expect(plotPartition(users, { rows: 5, columns: 4 }).split('\n')).toEqual([
    '0-0  0',
    '1-1 #### 1',
    '2-2 #### 1',
    '3-3  0',
    '4-4 #### 1',
  ]);
});
