/** Counters in memory, cheap for the code they count; gauges are read at each scrape. */
import { Counter, Gauge, Histogram, Registry } from 'prom-client';
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
