/** Every metric of both services, in one table: the page of metrics on the site is written from it (`npm run write -- reference`). */
import { AUTHORITY_METRICS } from './authority-table.ts';
import type { Metric } from './row.ts';
import { SERVER_METRICS } from './server-table.ts';
import { SHARED_METRICS } from './shared-table.ts';

export const METRICS = { ...SHARED_METRICS, ...SERVER_METRICS, ...AUTHORITY_METRICS } as const;

export type MetricName = keyof typeof METRICS;
export type MetricOf<Type extends Metric['type']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['type'] extends Type ? Name : never;
}[MetricName];
export type Labels<Name extends MetricName> = Readonly<Record<(typeof METRICS)[Name]['labels'][number], string>>;

/** The rows of one service, without their literal types. */
export function metricsOf(service: 'server' | 'authority'): readonly (readonly [MetricName, Metric])[] {
  const rows = Object.entries(METRICS) as [MetricName, Metric][];
  return rows.filter(([, { on }]) => on === 'both' || on === service);
}
