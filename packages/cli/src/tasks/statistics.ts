/** Results of statistics for the terminal. */
import { type FieldResult, fieldResults, type TaskPolicy, type WindowResult } from '@basa/protocol/policy';

/** The error that the noise makes in each field of a window of K devices: in its mean, or in each of its buckets. */
export function fieldErrors(policy: TaskPolicy): readonly Omit<FieldResult, 'mean' | 'buckets'>[] {
  const { statistics, dimension, bufferSize: devices } = policy;
  if (statistics === undefined) return [];
  return fieldResults({ ...policy, statistics }, { devices, batches: 1, sums: Array<number>(dimension).fill(0) });
}

export const WINDOW_HEADINGS = ['window from', 'devices', 'lost', 'results'];

export function windowRow({ from, devices, lost, why, fields }: WindowResult): string[] {
  return [new Date(from).toISOString(), String(devices), String(lost), why ?? fields.map(fieldText).join('; ')];
}

function fieldText(field: FieldResult): string {
  const { name, error } = field;
  if (field.kind === 'number') return `${name} ${shown(field.mean)} ± ${shown(error)}`;
  return `${name} ${field.buckets.map(({ bucket, count }) => `${bucket} ${shown(count)}`).join(', ')} (± ${shown(error)})`;
}

export function shown(value: number | undefined): string {
  if (value === undefined) return '-';
  return Number.isSafeInteger(value) ? String(value) : String(Number(value.toPrecision(3)));
}
