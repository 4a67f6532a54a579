/** Statistics of a partition: sizes and classes of its users as numbers, a line of text and a plot of sizes. */
import type { Labels, Partition } from './partition.ts';

export interface PartitionStatistics {
  readonly users: number;
  readonly examples: number;
  readonly min: number;
  readonly p10: number;
  readonly median: number;
  readonly mean: number;
  readonly p90: number;
  readonly max: number;
  readonly deviation: number;
  /** Means over users. */
  readonly classesPerUser: number;
  readonly topClassShare: number;
}

export function partitionStatistics(partition: Partition, labels: Labels): PartitionStatistics {
  const sizes = partition.map(({ length }) => length).sort((a, b) => a - b);
  const examples = sizes.reduce((sum, size) => sum + size, 0);
  const mean = examples / sizes.length;
  const squares = sizes.reduce((sum, size) => sum + (size - mean) ** 2, 0);
  const counts = partition.map((indices) => classCounts(indices, labels)).filter((list) => list.length > 0);
  const meanOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  return {
    users: sizes.length,
    examples,
    min: quantile(sizes, 0),
    p10: quantile(sizes, 0.1),
    median: quantile(sizes, 0.5),
    mean,
    p90: quantile(sizes, 0.9),
    max: quantile(sizes, 1),
    deviation: Math.sqrt(squares / sizes.length),
    classesPerUser: meanOf(counts.map((list) => list.length)),
    topClassShare: meanOf(counts.map((list) => Math.max(...list) / list.reduce((sum, count) => sum + count, 0))),
  };
}

/** Formats all of it as one line. */
export function describePartition(statistics: PartitionStatistics): string {
  const { users, examples, min, p10, median, mean, p90, max, deviation, classesPerUser, topClassShare } = statistics;
  const sizes = `min ${min}, p10 ${tenths(p10)}, median ${median}, mean ${mean.toFixed(1)}, p90 ${tenths(p90)}, max ${max}`;
  const classes = `${classesPerUser.toFixed(1)} classes a user, top class ${topClassShare.toFixed(2)}`;
  return `${users} users, ${examples} examples: ${sizes}, sd ${deviation.toFixed(1)}; ${classes}`;
}

/** A histogram of sizes in plain text, one bar per row. */
export function plotPartition(partition: Partition, { rows = 10, columns = 50 } = {}): string {
  const sizes = partition.map(({ length }) => length);
  const most = Math.max(...sizes);
  const step = Math.max(1, Math.ceil((most + 1) / rows));
  const bins = new Array<number>(Math.ceil((most + 1) / step)).fill(0);
  for (const size of sizes) bins[Math.floor(size / step)] = (bins[Math.floor(size / step)] ?? 0) + 1;
  const tallest = Math.max(...bins);
  const width = String(most).length;
  return bins
    .map((count, bin) => {
      const range = `${String(bin * step).padStart(width)}-${String((bin + 1) * step - 1).padStart(width)}`;
      return `${range} ${'#'.repeat(Math.round((count / tallest) * columns))} ${count}`;
    })
    .join('\n');
}

function classCounts(indices: Uint32Array, labels: Labels): readonly number[] {
  const counts = new Map<number, number>();
  for (const index of indices) counts.set(labels[index] as number, (counts.get(labels[index] as number) ?? 0) + 1);
  return [...counts.values()];
}

/** Linear between neighbours, as numpy. */
function quantile(sorted: readonly number[], share: number): number {
  const place = share * (sorted.length - 1);
  const below = sorted[Math.floor(place)] as number;
  const above = sorted[Math.ceil(place)] as number;
  return below + (above - below) * (place - Math.floor(place));
}

/** At most one decimal. */
function tenths(value: number): string {
  return String(Math.round(10 * value) / 10);
}
