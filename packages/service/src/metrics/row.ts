/** A row in the table of metrics. Labels have few values: a task, a step, a reason. None names a device, a buffer or an address. */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly on: 'both' | 'server' | 'authority';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

type Row<Type extends Metric['type'], Labels extends readonly string[]> = Metric & {
  readonly type: Type;
  readonly labels: Labels;
};

interface Rows {
  counter<const Labels extends readonly string[]>(labels: Labels, help: string): Row<'counter', Labels>;
  gauge<const Labels extends readonly string[]>(labels: Labels, help: string): Row<'gauge', Labels>;
  histogram<const Labels extends readonly string[]>(
    labels: Labels,
    buckets: readonly number[],
    help: string,
  ): Row<'histogram', Labels>;
}

export const REQUEST_SECONDS = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
export const DISK_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

/** Rows of the metrics that one service has, or both. */
export function rowsOf(on: Metric['on']): Rows {
  return {
    counter: (labels, help) => ({ type: 'counter', on, help, labels }),
    gauge: (labels, help) => ({ type: 'gauge', on, help, labels }),
    histogram: (labels, buckets, help) => ({ type: 'histogram', on, help, labels, buckets }),
  };
}
