/** Results of statistics for the terminal, and beside the true values where a program knows the reports. */
import { type FieldResult, fieldResults, Statistics, type TaskPolicy, type WindowResult } from '@basa/protocol/policy';

/** 95 % of the values of a normal distribution are within this many standard deviations. */
export const DEVIATIONS = 1.96;

/** The standard deviation of the noise in each field of a window of K devices: in its mean, or in each of its buckets. */
export function fieldErrors(policy: TaskPolicy): readonly Omit<FieldResult, 'mean' | 'buckets'>[] {
  const { statistics, dimension, bufferSize: devices } = policy;
  if (statistics === undefined) return [];
  return fieldResults({ ...policy, statistics }, { devices, batches: 1, sums: Array<number>(dimension).fill(0) });
}

export const WINDOW_HEADINGS = ['window from', 'devices', 'lost', 'results'];

const DAY_MS = 86_400_000;

/** Windows of a day or longer begin at midnight UTC, and show their date. */
export function windowRow({ from, to, devices, lost, why, fields }: WindowResult): string[] {
  const start = new Date(from).toISOString();
  const shownStart = to - from < DAY_MS ? start : start.slice(0, 10);
  return [shownStart, String(devices), String(lost), why ?? fields.map(fieldText).join('; ')];
}

/** With the 95 % error bar. */
export function fieldText(field: FieldResult): string {
  const { name } = field;
  const bar = `± ${shown(DEVIATIONS * field.error)}`;
  if (field.kind === 'number') return `${name} ${shown(field.mean)} ${bar}`;
  return `${name} ${field.buckets.map(({ bucket, count }) => `${bucket} ${shown(count)}`).join(', ')} (${bar})`;
}

export function shown(value: number | undefined): string {
  if (value === undefined) return '-';
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}

/** The results of a window, with the true values of the devices in its sums by field: the mean of a number, the counts of buckets. */
export interface KnownFields {
  readonly fields: readonly FieldResult[];
  readonly truths: Readonly<Record<string, readonly number[]>>;
}

export function truthsOf(
  fields: readonly Statistics.StatisticsField[],
  reports: readonly Statistics.Report[],
): KnownFields['truths'] {
  return Object.fromEntries(fields.map((field) => [field.name, truthOf(field, reports)]));
}

function truthOf(field: Statistics.StatisticsField, reports: readonly Statistics.Report[]): readonly number[] {
  const values = reports.map((report) => report[field.name] as number | string);
  if (field.kind === 'number') return [sum(values as readonly number[]) / values.length];
  const words = values.map((value) => Statistics.reportWords([field], { [field.name]: value }).words);
  return [...(words[0] ?? [])].map((_, bucket) => sum(words.map((own) => own[bucket] as number)));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

interface ComparedValue {
  /** The bucket; empty for a mean. */
  readonly label: string;
  readonly value: number;
  readonly truth: number;
  /** True if the true value is inside the 95 % error bar. */
  readonly isInside: boolean;
}

/** Each value of a result, beside the true one. */
export function comparedValues(field: FieldResult, { truths }: Pick<KnownFields, 'truths'>): readonly ComparedValue[] {
  const values =
    field.kind === 'number'
      ? [{ label: '', value: field.mean }]
      : field.buckets.map(({ bucket, count }) => ({ label: bucket, value: count }));
  return values.map((one, n) => {
    const truth = truths[field.name]?.[n] ?? Number.NaN;
    return { ...one, truth, isInside: Math.abs(one.value - truth) <= DEVIATIONS * field.error };
  });
}

/** The share of true values inside their 95 % error bars. */
export function coverageOf(windows: readonly KnownFields[]): number {
  const all = windows.flatMap((window) => window.fields.flatMap((field) => comparedValues(field, window)));
  return all.filter(({ isInside }) => isInside).length / all.length;
}
