/**
 * Metrics by OTLP over HTTP with JSON (OpenTelemetry protocol 1.x), beside the text format of Prometheus. Values are cumulative: what one
 * push could not deliver, the next one does.
 */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { Histogram, Registry } from 'prom-client';
import type { Answer, Metrics } from './metrics.ts';

export interface OtlpOptions {
  /** The receiver; `/v1/metrics` is added. */
  readonly url: string;
  /** `name=value` pairs separated by commas, as in OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headers?: string | undefined;
}

export interface Otlp {
  answered(answer: Answer): void;
  /** Sends all values now; failures are reported, not thrown. */
  push(): Promise<void>;
  /** Sends them once more, and ends. */
  close(): Promise<void>;
}

/** As prom-client gives it; its own type has numbers for the kinds. */
interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly values: readonly {
    readonly labels: Readonly<Record<string, string | number>>;
    readonly value: number;
    readonly metricName?: string;
  }[];
}

const EVERY_MS = 60_000;
const PATIENCE_MS = 10_000;
/** A stop does not wait longer. */
const LAST_MS = 2000;
const CUMULATIVE = 2;
/** The buckets that OpenTelemetry's conventions name for the time of requests. */
const REQUEST_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Names of the conventions, of attributes and metrics; others are `basa.` with dots, and units apart. */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  http_request_method: 'http.request.method',
  http_response_status_code: 'http.response.status_code',
  http_route: 'http.route',
  url_scheme: 'url.scheme',
};
const STANDARD: Readonly<Record<string, { readonly name: string; readonly unit: string; readonly isSum?: true }>> = {
  http_server_request_duration: { name: 'http.server.request.duration', unit: 's' },
  process_resident_memory_bytes: { name: 'process.memory.usage', unit: 'By', isSum: true },
  process_heap_bytes: { name: 'v8js.memory.heap.used', unit: 'By', isSum: true },
  process_cpu_seconds_total: { name: 'process.cpu.time', unit: 's' },
};

export function startOtlp(
  { url, headers = '' }: OtlpOptions,
  metrics: Metrics,
  { scheme, onTrouble }: { readonly scheme: string; onTrouble(error: unknown): void },
): Otlp {
  const own = new Registry();
  const requests = new Histogram({
    name: 'http_server_request_duration',
    help: 'Duration of requests',
    labelNames: Object.keys(ATTRIBUTES),
    registers: [own],
    buckets: REQUEST_BOUNDS,
  });
  const resource = resourceOf(metrics.service);
  const startedAt = Date.now();
  const push = async (patienceMs = PATIENCE_MS): Promise<void> => {
    try {
      const all = [...(await metrics.json()), ...(await own.getMetricsAsJSON())] as unknown as readonly Metric[];
      const times = { startTimeUnixNano: nanoseconds(startedAt), timeUnixNano: nanoseconds(Date.now()) };
      const scope = { scope: { name: 'basa' }, metrics: all.flatMap((metric) => metricOf(metric, times)) };
      const answer = await fetch(`${url.replace(/\/$/, '')}/v1/metrics`, {
        method: 'POST',
        headers: { ...headersOf(headers), 'content-type': 'application/json' },
        body: JSON.stringify({
          resourceMetrics: [{ resource: { attributes: await resource }, scopeMetrics: [scope] }],
        }),
        redirect: 'error',
        signal: AbortSignal.timeout(patienceMs),
      });
      await answer.body?.cancel();
      if (!answer.ok) throw new Error(`the receiver of metrics answered ${answer.status}`);
    } catch (error) {
      onTrouble(error);
    }
  };
  const timer = setInterval(() => void push(), EVERY_MS);
  timer.unref();
  return {
    answered({ method, route, status, ms }) {
      const known = { http_request_method: method, http_response_status_code: status, url_scheme: scheme };
      requests.observe({ ...known, ...(route !== undefined && { http_route: route }) }, ms / 1000);
    },
    push,
    async close() {
      clearInterval(timer);
      await push(LAST_MS);
    },
  };
}

/** Milliseconds are too few digits for a JSON number of nanoseconds: 64-bit numbers are texts in OTLP. */
function nanoseconds(ms: number): string {
  return `${Math.round(ms)}000000`;
}

async function resourceOf(service: string): Promise<readonly object[]> {
  const file = new URL('../../package.json', import.meta.url);
  const { version } = JSON.parse(await readFile(file, 'utf8').catch(() => '{}')) as { readonly version?: string };
  return attributesOf({
    'service.name': `basa-${service}`,
    ...(version !== undefined && { 'service.version': version }),
    'service.instance.id': randomUUID(),
    'host.name': hostname(),
    'process.pid': process.pid,
    'process.runtime.name': 'nodejs',
    'process.runtime.version': process.versions.node,
  });
}

function attributesOf(values: Metric['values'][number]['labels']): readonly object[] {
  return Object.entries(values).map(([key, value]) => ({
    key: ATTRIBUTES[key] ?? key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }));
}

function metricOf({ name, help, type, values: all }: Metric, times: object): readonly object[] {
  const values = all.filter(({ value }) => Number.isFinite(value));
  if (values.length === 0) return [];
  const known = STANDARD[name] ?? namedOf(name);
  const described = { name: known.name, description: help, unit: known.unit };
  if (type === 'histogram')
    return [
      { ...described, histogram: { aggregationTemporality: CUMULATIVE, dataPoints: histogramsOf(values, times) } },
    ];
  const dataPoints = values.map(({ labels, value }) => ({
    ...times,
    attributes: attributesOf(labels),
    asDouble: value,
  }));
  const isMonotonic = type === 'counter';
  if (!isMonotonic && !('isSum' in known)) return [{ ...described, gauge: { dataPoints } }];
  return [{ ...described, sum: { aggregationTemporality: CUMULATIVE, isMonotonic, dataPoints } }];
}

function namedOf(name: string): { readonly name: string; readonly unit: string } {
  const bare = name.replace(/_total$/, '');
  const [, suffix] = /_(seconds|bytes)$/.exec(bare) ?? [];
  const unit = suffix === 'seconds' ? 's' : suffix === 'bytes' ? 'By' : '';
  return { name: bare.replace(/_(seconds|bytes)$/, '').replace('_', '.'), unit };
}

/** Prometheus counts each bucket with all below it, OTLP each by itself. */
function histogramsOf(values: Metric['values'], times: object): readonly object[] {
  const series = new Map<string, { labels: Record<string, string | number>; le: [number, number][]; sum: number }>();
  for (const { labels, value, metricName } of values) {
    const { le, ...rest } = labels;
    const key = JSON.stringify(rest);
    const one = series.get(key) ?? { labels: rest, le: [], sum: 0 };
    series.set(key, one);
    if (le !== undefined) one.le.push([le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le), value]);
    if (metricName?.endsWith('_sum')) one.sum = value;
  }
  return [...series.values()].map(({ labels, le, sum }) => {
    const sorted = le.sort(([a], [b]) => a - b);
    const bucketCounts = sorted.map(([, count], n) => String(count - (sorted[n - 1]?.[1] ?? 0)));
    const explicitBounds = sorted.map(([bound]) => bound).filter(Number.isFinite);
    const count = String(sorted.at(-1)?.[1] ?? 0);
    return { ...times, attributes: attributesOf(labels), count, sum, bucketCounts, explicitBounds };
  });
}

function headersOf(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((pair) => /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []);
  return Object.fromEntries(pairs.flatMap(([, name, value = '']) => (name === undefined ? [] : [[name, value]])));
}
