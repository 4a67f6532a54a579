/** What operators and their tools look at: probes and metrics. */

import { Type } from 'typebox';
import { METRICS_MEDIA_TYPE } from '../metrics/metrics.ts';
import type { RequireRole } from './operators.ts';
import type { ServiceApp, ServiceSettings } from './service-options.ts';

// The endpoints for orchestrators and balancers. `/healthz`: the process answers; restart it if it does not. `/readyz`: it can serve; send
// no traffic here if it cannot. Neither counts against the limit of an address.

type CheckResult = 'ok' | 'failed';

export interface Check {
  /** False if the service can do without it. The check is then shown but does not count. */
  readonly isNeeded: boolean;
  /** Fulfilled if the check passes. */
  look(): Promise<unknown>;
}

export const PROBES: ReadonlySet<string> = new Set(['/healthz', '/readyz']);

/** Probes come every few seconds, so they are not logged. */
const QUIET = { logLevel: 'warn' } as const;
/** The time for which the result of a check is reused, and the time a check may take: many probes cost no more than one. */
const FRESH_MS = 1000;
const PATIENCE_MS = 2000;

export function mountProbes(app: ServiceApp, checks: ReadonlyMap<string, Check>, isDraining: () => boolean): void {
  const health = Type.Object({ status: Type.Literal('ok') });
  const alive = { ...QUIET, schema: { summary: 'The process answers', response: { 200: health } } };
  app.get('/healthz', alive, async () => ({ status: 'ok' as const }));

  const ready = Type.Object({
    status: Type.Union([Type.Literal('ready'), Type.Literal('unready'), Type.Literal('draining')]),
    checks: Type.Record(Type.String(), Type.Union([Type.Literal('ok'), Type.Literal('failed')])),
    missing: Type.Array(Type.String(), { description: 'the required checks that failed' }),
  });
  const schema = {
    summary: 'Whether the service can answer requests; 503 if it cannot, or is stopping',
    response: { 200: ready, 503: ready },
  };
  let told: readonly string[] = [];
  const looks = new Map<string, () => Promise<CheckResult>>();
  app.addHook('onReady', async () => {
    for (const [name, check] of checks) looks.set(name, shared(check));
  });
  app.get('/readyz', { ...QUIET, schema }, async (_, reply) => {
    if (isDraining()) return reply.code(503).send({ status: 'draining' as const, checks: {}, missing: [] });
    const looked = await Promise.all([...looks].map(async ([name, look]) => [name, await look()] as const));
    const found = Object.fromEntries(looked);
    const missing = [...checks].flatMap(([name, { isNeeded }]) => (isNeeded && found[name] !== 'ok' ? [name] : []));
    if (missing.join() !== told.join()) app.log.warn({ missing }, missing.length > 0 ? 'unready' : 'ready again');
    told = missing;
    const isReady = missing.length === 0;
    return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'unready', checks: found, missing });
  });
}

/** Probes that come during a check, or just after it, get its result. No second check begins before the first has ended. */
function shared({ look }: Check): () => Promise<CheckResult> {
  let looking: Promise<CheckResult> | undefined;
  let freshUntil: number | undefined;
  return () => {
    if (looking === undefined || (freshUntil !== undefined && performance.now() > freshUntil)) {
      freshUntil = undefined;
      looking = resultOf(look).finally(() => {
        freshUntil = performance.now() + FRESH_MS;
      });
    }
    return inTime(looking);
  };
}

function resultOf(look: () => Promise<unknown>): Promise<CheckResult> {
  return look().then(
    () => 'ok',
    () => 'failed',
  );
}

async function inTime(looking: Promise<CheckResult>): Promise<CheckResult> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<CheckResult>((resolve) => {
    timer = setTimeout(() => resolve('failed'), PATIENCE_MS);
  });
  try {
    return await Promise.race([looking, late]);
  } finally {
    clearTimeout(timer);
  }
}

// `/metrics` in the text format of Prometheus, for the readers that the operator allows.

export function mountMetrics(
  app: ServiceApp,
  { metrics, metricsAccess }: Pick<ServiceSettings, 'metrics' | 'metricsAccess'>,
  requireRole: RequireRole,
): void {
  if (metrics === undefined || metricsAccess === 'off') return;
  const onRequest = metricsAccess === 'token' ? requireRole('metrics', 'operator', 'admin') : [];
  app.get('/metrics', { onRequest, schema: { hide: true } }, async (_, reply) =>
    reply
      .type(METRICS_MEDIA_TYPE)
      .header('cache-control', 'no-store')
      .send(await metrics.text()),
  );
}
