/** Counters in memory, cheap for the code they count; gauges are read at each scrape. */

import { statfs } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { ProblemCode } from '@basa/protocol/http';
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { SqlWatch } from '../sql/sql.ts';
import { type Labels, METRICS, type MetricName, type MetricOf, metricsOf } from './table.ts';

export type ServiceName = 'server' | 'authority';
export type Sample<Name extends MetricName> = readonly [labels: Labels<Name>, value: number];
type Samples<Name extends MetricName> = readonly Sample<Name>[] | Promise<readonly Sample<Name>[]>;

export interface Metrics {
  readonly service: ServiceName;
  count<Name extends MetricOf<'counter'>>(name: Name, labels: Labels<Name>, by?: number): void;
  observe<Name extends MetricOf<'histogram'>>(name: Name, labels: Labels<Name>, value: number): void;
  /** `read` is called at every scrape; samples that it no longer returns disappear. */
  gauge<Name extends MetricOf<'gauge'>>(name: Name, read: () => Samples<Name>): void;
  /** The same for a counter that another part keeps. */
  counted<Name extends MetricOf<'counter'>>(name: Name, read: () => Samples<Name>): void;
  /** In the text format of Prometheus. */
  text(): Promise<string>;
  /** The same values as objects. */
  json(): ReturnType<Registry['getMetricsAsJSON']>;
}

export const METRICS_MEDIA_TYPE = Registry.PROMETHEUS_CONTENT_TYPE;

export function createMetrics(service: ServiceName): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  for (const [name, { type, help, labels, buckets }] of metricsOf(service)) {
    const labelNames = [...labels];
    if (type === 'counter') counters.set(name, new Counter({ name, help, labelNames, registers }));
    if (type === 'histogram')
      histograms.set(name, new Histogram({ name, help, labelNames, registers, buckets: [...(buckets ?? [])] }));
  }
  const shapeOf = (name: MetricName) => ({
    name,
    help: METRICS[name].help,
    labelNames: [...METRICS[name].labels],
    registers,
  });
  const of = <Kind>(known: ReadonlyMap<string, Kind>, name: MetricName): Kind => {
    const found = known.get(name);
    if (found === undefined) throw new Error(`${name} is not a metric of the ${service}`);
    return found;
  };
  return {
    service,
    count: (name, labels, by = 1) => of(counters, name).inc(labels, by),
    observe: (name, labels, value) => of(histograms, name).observe(labels, value),
    gauge(name, read) {
      const gauge: Gauge = new Gauge({
        ...shapeOf(name),
        collect: () => refill(gauge, read, (...set) => gauge.set(...set)),
      });
    },
    counted(name, read) {
      registry.removeSingleMetric(name);
      const counter: Counter = new Counter({
        ...shapeOf(name),
        collect: () => refill(counter, read, (...set) => counter.inc(...set)),
      });
    },
    text: () => registry.metrics(),
    json: () => registry.getMetricsAsJSON(),
  };
}

/** A value that cannot be read now is left out of this scrape. The rest is still reported. */
async function refill<Name extends MetricName>(
  metric: { reset(): void },
  read: () => Samples<Name>,
  set: (labels: Labels<Name>, value: number) => void,
): Promise<void> {
  const found = await Promise.resolve()
    .then(read)
    .catch(() => []);
  metric.reset();
  for (const [labels, value] of found) set(labels, value);
}

/** Reports the duration of the work, even if it failed. */
export async function timed<Result>(observe: (seconds: number) => void, work: () => Promise<Result>): Promise<Result> {
  const start = performance.now();
  try {
    return await work();
  } finally {
    observe((performance.now() - start) / 1000);
  }
}

// Metrics of a service's answers: requests, refusals, bytes and time, by step.

/** A request once it is answered, without anything about its sender. */
export interface Answer {
  readonly method: string;
  /** The pattern of its route; undefined if there is no such route. */
  readonly route: string | undefined;
  readonly status: number;
  readonly problem: ProblemCode | undefined;
  readonly ms: number;
  /** Bytes of the bodies, as far as they were declared. */
  readonly received: number;
  readonly sent: number;
}

const BOTH = { 'GET /healthz': 'probe', 'GET /readyz': 'probe', 'GET /metrics': 'scrape' };

/** `steps` names routes, as `METHOD pattern`; all others are `other`. */
export function countAnswers(metrics: Metrics, steps: Readonly<Record<string, string>>): (answer: Answer) => void {
  const stepOf: Readonly<Record<string, string>> = { ...BOTH, ...steps };
  return ({ method, route, status, problem, ms, received, sent }) => {
    const step = stepOf[`${method} ${route}`] ?? 'other';
    metrics.count('basa_requests_total', { step, status: String(status) });
    metrics.observe('basa_request_seconds', { step }, ms / 1000);
    if (sent > 0) metrics.count('basa_sent_bytes_total', { step }, sent);
    if (problem !== undefined) metrics.count('basa_refusals_total', { step, reason: problem });
    else if (received > 0) metrics.count('basa_received_bytes_total', { step }, received);
  };
}

// The metrics of a database.

export function countDatabase(metrics: Metrics): Required<SqlWatch> {
  return {
    onCommit: (seconds) => metrics.observe('basa_commit_seconds', {}, seconds),
    onRetry: () => metrics.count('basa_database_retries_total', {}),
  };
}

// Metrics that every process has: memory, processor time, the delay of its event loop, and the disk it writes to.

const NANO = 1e-9;
const MICRO = 1e-6;
const RESOLUTION_MS = 20;

/** Returns a function that ends the watch over the event loop. */
export function watchProcess(metrics: Metrics, folder: string | undefined): () => void {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delays.enable();
  metrics.gauge('basa_event_loop_delay_seconds', () => {
    const late = (nanoseconds: number): number => Math.max(0, nanoseconds * NANO - RESOLUTION_MS / 1000);
    const [half, most, max] = [delays.percentile(50), delays.percentile(99), delays.max];
    delays.reset();
    return [
      [{ quantile: '0.5' }, late(half)],
      [{ quantile: '0.99' }, late(most)],
      [{ quantile: '1' }, late(max)],
    ];
  });
  metrics.gauge('process_resident_memory_bytes', () => [[{}, process.memoryUsage.rss()]]);
  metrics.gauge('process_heap_bytes', () => [[{}, process.memoryUsage().heapUsed]]);
  metrics.counted('process_cpu_seconds_total', () => {
    const { user, system } = process.cpuUsage();
    return [[{}, (user + system) * MICRO]];
  });
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  metrics.gauge('process_start_time_seconds', () => [[{}, startedAt]]);
  if (folder !== undefined) watchDisk(metrics, folder);
  return () => delays.disable();
}

function watchDisk(metrics: Metrics, folder: string): void {
  metrics.gauge('basa_disk_free_bytes', async () => {
    const { bavail, bsize } = await statfs(folder);
    return [[{}, bavail * bsize]];
  });
  metrics.gauge('basa_disk_size_bytes', async () => {
    const { blocks, bsize } = await statfs(folder);
    return [[{}, blocks * bsize]];
  });
}
