/** Metrics as a collector receives them: opentelemetry-proto 1.x, metrics/v1, in its JSON form. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMetrics } from '../../src/index.ts';
import { serviceWith } from '../http/test-service.ts';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}
interface Point {
  readonly attributes: readonly Attribute[];
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
}
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly sum?: { readonly dataPoints: readonly Point[]; aggregationTemporality: number; isMonotonic: boolean };
  readonly histogram?: { readonly dataPoints: readonly Point[]; aggregationTemporality: number };
}
interface Received {
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly resourceMetrics: readonly {
      readonly resource: { readonly attributes: readonly Attribute[] };
      readonly scopeMetrics: readonly { readonly scope: { name: string }; readonly metrics: readonly Metric[] }[];
    }[];
  };
}

const CUMULATIVE = 2;
let status = 200;
let received: Received[] = [];
const receiver = createServer((request, reply) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    received.push({ path: request.url, headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) });
    reply.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  });
});
let url: string;
beforeEach(async () => {
  [status, received] = [200, []];
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterEach(() => {
  receiver.closeAllConnections();
  receiver.close();
});

const valuesOf = (attributes: readonly Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));

it('a service that stops has told the collector its requests, its process and its own metrics', async () => {
  const metrics = createMetrics('server');
  metrics.count('basa_troubles_total', {}, 3);
  metrics.observe('basa_commit_seconds', {}, 0.003);
  metrics.observe('basa_commit_seconds', {}, 0.02);
  metrics.gauge('process_resident_memory_bytes', () => [[{}, 4096]]);
  metrics.gauge('basa_disk_free_bytes', () => [[{}, Number.NaN]]);
  const service = await serviceWith({
    metrics,
    otlp: { url: `${url}/`, headers: 'authorization=Bearer a=b, x-team=ops' },
  });
  for (const path of ['/v1/health', '/v1/health', '/v1/fails/later', '/nowhere?secret=1'])
    await service.app.inject(path);
  await service.close();

  expect(received.map(({ path }) => path)).toEqual(['/v1/metrics']);
  const [{ headers, body } = expect.fail()] = received;
  expect(headers).toMatchObject({ 'content-type': 'application/json', authorization: 'Bearer a=b', 'x-team': 'ops' });
  const [{ resource, scopeMetrics } = expect.fail()] = body.resourceMetrics;
  expect(valuesOf(resource.attributes)).toMatchObject({
    'service.name': 'basa-server',
    'service.version': expect.stringMatching(/^\d+\.\d+\.\d+/),
    'service.instance.id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'process.pid': process.pid,
  });
  const all = new Map(scopeMetrics[0]?.metrics.map((metric) => [metric.name, metric]));
  const duration = all.get('http.server.request.duration');
  expect([duration?.unit, duration?.histogram?.aggregationTemporality]).toEqual(['s', CUMULATIVE]);
  const byRoute = duration?.histogram?.dataPoints.map(({ attributes, count }) => [valuesOf(attributes), count]);
  const asked = (more: object) => ({ 'http.request.method': 'GET', 'url.scheme': 'http', ...more });
  expect(byRoute).toEqual([
    [asked({ 'http.route': '/v1/health', 'http.response.status_code': 200 }), '2'],
    [asked({ 'http.route': '/v1/fails/:how', 'http.response.status_code': 409 }), '1'],
    [asked({ 'http.response.status_code': 404 }), '1'],
  ]);
  for (const { bucketCounts = [], explicitBounds = [], count, startTimeUnixNano, timeUnixNano } of duration?.histogram
    ?.dataPoints ?? []) {
    expect(bucketCounts.length).toBe(explicitBounds.length + 1);
    expect(bucketCounts.reduce((sum, one) => sum + Number(one), 0)).toBe(Number(count));
    expect([...explicitBounds].sort((a, b) => a - b)).toEqual(explicitBounds);
    expect(startTimeUnixNano).toMatch(/^\d{19}$/); // 64-bit numbers are texts
    expect(BigInt(timeUnixNano)).toBeGreaterThanOrEqual(BigInt(startTimeUnixNano));
  }
  expect(all.get('basa.troubles')?.sum).toMatchObject({
    isMonotonic: true,
    aggregationTemporality: CUMULATIVE,
    dataPoints: [{ asDouble: 3 }],
  });
  const commit = all.get('basa.commit')?.histogram?.dataPoints[0];
  expect([all.get('basa.commit')?.unit, commit?.count, commit?.sum]).toEqual(['s', '2', 0.023]);
  expect(commit?.bucketCounts?.filter((one) => one !== '0')).toEqual(['1', '1']);
  const memory = all.get('process.memory.usage');
  expect([memory?.unit, memory?.sum?.isMonotonic, memory?.sum?.dataPoints[0]?.asDouble]).toEqual(['By', false, 4096]);
  expect(all.get('basa.draining')?.gauge?.dataPoints[0]?.asDouble).toBe(1);
  expect(all.has('basa.disk_free')).toBe(false); // no number, no value
  expect(JSON.stringify(body)).not.toMatch(/secret|null/);
});

it('a collector that is down costs a line in the log and a count, and nothing else', async () => {
  const metrics = createMetrics('authority');
  status = 503;
  const lines: string[] = [];
  const log = { level: 'info' as const, stream: { write: (line: string) => void lines.push(line) } };
  const service = await serviceWith({ metrics, otlp: { url }, log });
  expect((await service.app.inject('/v1/health')).statusCode).toBe(200);
  await service.close();
  expect(lines.join('')).toContain('the receiver of metrics answered 503');
  expect(await metrics.text()).toContain('basa_troubles_total 1');
});
