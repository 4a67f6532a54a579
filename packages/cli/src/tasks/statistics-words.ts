/** Results of statistics for the terminal. */
import type { FieldResult, TaskPolicy, WindowResult } from '@basa/protocol/policy';

/** The error that the noise makes in each field of a window of K devices: in its mean, or in each of its buckets. */
export async function fieldErrors(policy: TaskPolicy): Promise<readonly Omit<FieldResult, 'mean' | 'buckets'>[]> {
  const { fieldResults } = await import('@basa/protocol/policy');
  const { statistics, dimension, bufferSize: devices } = policy;
  if (statistics === undefined) return [];
  return fieldResults({ ...policy, statistics }, { devices, batches: 1, sums: Array<number>(dimension).fill(0) });
}

/** One line for each field. */
export async function errorLines(policy: TaskPolicy): Promise<readonly string[]> {
  return (await fieldErrors(policy)).map(({ kind, name, error }) =>
    kind === 'number'
      ? `${name}: the mean of ${policy.bufferSize} devices has an error of ${shown(error)}`
      : `${name}: the devices in a bucket have an error of ${shown(error)}`,
  );
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

export function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
