/** The operators' view of both services: metrics, readiness, log lines, and the trace of one batch. */
import { rmSync } from 'node:fs';
import { METRICS } from '@basa/service';
import { oneHot, scraped, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const exporter = new InMemorySpanExporter();
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const lines: string[] = [];
const norms: number[] = [];
let services: TestServices;
let ctx: string;
let upload = '';
let label: string;

beforeAll(async () => {
  provider.register();
  const log = { level: 'info', stream: { write: (line: string) => void lines.push(line) } } as const;
  services = await TestServices.open({ server: { log }, authority: { log } });
  label = `task="test 1-${services.task.slice(0, 8)}"`;
  for (const [place, name] of ['a', 'b', 'c'].entries()) {
    const client = await services.client(name);
    client.on('quantized', ({ norm }) => norms.push(norm));
    await client.model();
    const delta = oneHot(place);
    if (place === 0) delta[7] = 5; // beyond the clip of 1
    const given = await client.contribute(delta, { trainedOn: 0 });
    if (given.kind === 'accepted') upload = given.ctx;
  }
  ctx = (await services.fateIs(upload, 'included')).ctx ?? '';
  // The last step that is traced ends a moment after the version is there.
  await until(() => exporter.getFinishedSpans().some((span) => span.name === 'task' && partyOf(span) === 'server'));
});
afterAll(async () => {
  await services.close();
  await provider.shutdown();
  rmSync(services.folder, { recursive: true });
});

async function scrape(url: string): Promise<string> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };
  return (await fetch(new URL('/metrics', url), { headers })).text();
}

describe('metrics', () => {
  it.each(['server', 'authority'] as const)('of the %s are those of the table, and no others', async (service) => {
    const text = await scrape(services[service].url);
    const told = [...text.matchAll(/^# HELP (\S+) (.*)$/gm)].map(([, name, help]) => [name, help]);
    const known = Object.entries(METRICS).filter(([, { on }]) => on === 'both' || on === service);
    expect(new Map(told as [string, string][])).toEqual(new Map(known.map(([name, { help }]) => [name, help])));
  });

  it('count the results of one batch', async () => {
    const server = await scraped(services.server.url);
    expect(server.get(`basa_uploads_accepted_total{${label}}`)).toBe(3);
    expect(server.get(`basa_batches_frozen_total{${label}}`)).toBe(1);
    expect(server.get(`basa_batches_ended_total{${label},outcome="included"}`)).toBe(1);
    expect(server.get(`basa_batch_lag_versions_count{${label}}`)).toBe(1);
    expect(server.get(`basa_model_version{${label}}`)).toBe(1);
    expect(server.get('basa_work_seconds_count{work="sum-shard"}')).toBe(1);
    expect(server.get('basa_blob_commit_seconds_count')).toBe(0); // bodies this small are rows
    expect(server.get('basa_requests_total{step="upload",status="200"}')).toBe(3);
    for (const name of ['basa_commit_seconds_count', 'basa_received_bytes_total{step="upload"}'])
      expect(server.get(name)).toBeGreaterThan(0);
    expect(server.get('basa_sent_bytes_total{step="model"}')).toBeGreaterThanOrEqual(32);
    expect(server.get('basa_authority_up')).toBe(1);

    const authority = await scraped(services.authority.url);
    expect(authority.get('basa_devices_enrolled_total')).toBe(3);
  });

  it('show uploads that wait for a batch', async () => {
    const client = await services.client('d');
    await client.contribute(oneHot(3), { trainedOn: 1 });
    await until(async () => (await scraped(services.server.url)).get(`basa_shots{${label},state="good"}`) === 1);
    expect((await scraped(services.server.url)).get(`basa_batches{${label},status="frozen"}`)).toBe(0);
  });

  it('count a refusal by its reason, and the log has the reason without the words of the request', async () => {
    const answer = await fetch(new URL('/v1/tasks?my-secret', services.server.url), {
      method: 'POST',
      body: 'my-secret',
    });
    expect(answer.status).toBe(401);
    await until(async () =>
      (await scraped(services.server.url)).has('basa_refusals_total{step="other",reason="operator-token-missing"}'),
    );
    expect(lines.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ service: 'server', refused: 'operator-token-missing', statusCode: 401 }),
    );
    expect(lines.join('')).not.toContain('my-secret');
  });

  it('name no batch and no device', async () => {
    const text = (await scrape(services.server.url)) + (await scrape(services.authority.url));
    expect(text).not.toContain(ctx.slice(0, 16));
    const values = [...text.matchAll(/="([^"]*)"/g)].map(([, value]) => value);
    expect(values.filter((value) => /[0-9a-f]{12}/.test(value ?? ''))).toEqual([]);
  });
});

it('the clipped ratio and the staleness of an update are known on its device', () => {
  expect(norms).toEqual([Math.sqrt(26), 1, 1]);
});

it('each line of the logs names its service', () => {
  expect(new Set(lines.map((line) => JSON.parse(line).service))).toEqual(new Set(['server', 'authority']));
});

it('a server without its authority is ready, and says so', async () => {
  const ready = async () => {
    const answer = await fetch(new URL('/readyz', services.server.url));
    return { code: answer.status, ...((await answer.json()) as { status: string; checks: Record<string, string> }) };
  };
  expect(await ready()).toEqual({
    code: 200,
    status: 'ready',
    checks: { database: 'ok', blobs: 'ok', authority: 'ok' },
    missing: [],
  });
  await services.authority.close();
  await until(async () => (await ready()).checks['authority'] === 'failed');
  expect(await ready()).toMatchObject({ code: 200, status: 'ready', checks: { database: 'ok', blobs: 'ok' } });
  expect((await scraped(services.server.url)).get('basa_authority_up')).toBe(0);
  await services.startAuthority();
});

describe('the trace of a batch', () => {
  const ofBatch = (): readonly ReadableSpan[] =>
    exporter.getFinishedSpans().filter((span) => span.spanContext().traceId === ctx.slice(0, 32));

  /** A span and its ancestors, by name. */
  function pathOf(span: ReadableSpan): string {
    const parent = ofBatch().find((other) => other.spanContext().spanId === span.parentSpanContext?.spanId);
    return `${parent === undefined ? '' : `${pathOf(parent)} > `}${span.name}`;
  }

  it('is task > batch > step, of both services under one id', () => {
    const paths = (party: string) =>
      ofBatch()
        .filter((span) => partyOf(span) === party)
        .map(pathOf);
    const steps = ['close', 'close', 'sum-shard', 'model-step'];
    expect(paths('server').sort()).toEqual(
      ['task', 'task > batch', ...steps.map((step) => `task > batch > ${step}`)].sort(),
    );
    // The server's requests are children of its own step.
    expect(paths('authority').sort()).toEqual(['task > batch > close > release', 'task > batch > close > vote']);
  });

  it('is named by the lines of both logs about the batch', () => {
    const told = lines.map((line) => JSON.parse(line)).filter(({ trace_id }) => trace_id === ctx.slice(0, 32));
    expect(new Set(told.map(({ service }) => service))).toEqual(new Set(['server', 'authority']));
    expect(lines.filter((line) => line.includes('"span_id"'))).not.toEqual([]); // written within a step of a registered SDK
  });

  it('holds only public names', () => {
    const keys = ofBatch().flatMap(({ attributes }) => Object.keys(attributes));
    const allowed = ['party', 'task', 'ctx', 'version', 'from', 'to'];
    expect(new Set(keys)).toEqual(new Set(allowed.map((key) => `basa.${key}`)));
  });
});

function partyOf({ attributes }: ReadableSpan): unknown {
  return attributes['basa.party'];
}
