/** The common parts of both services: Fastify with problem documents, limits, signed requests, operators and OpenAPI. */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { HEADER, Problems, ROLES_PATH } from '@basa/protocol/http';
import cors from '@fastify/cors';
import swagger from '@fastify/swagger';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import { Type } from 'typebox';
import type { Answer } from '../metrics/metrics.ts';
import { startOtlp } from '../metrics/otlp.ts';
import { type DeviceRouteOptions, deviceRequests } from './device-requests.ts';
import { allowedMethods, networkOf, refuseOddHeads, refuseOtherHosts, refuseOtherOrigins } from './heads.ts';
import { TokenBuckets, watchOverload } from './limits.ts';
import { type Address, listen, unusedConnections } from './listen.ts';
import { answers, compileAtFirstUse, readBodies } from './messages.ts';
import { operatorRequests, type RequireRole } from './operators.ts';
import { type Check, mountMetrics, mountProbes, PROBES } from './probes.ts';
import { answerBrokenRequest, answerError, fail, problemSent, sendProblem } from './problems.ts';
import { ExpectedFault, loggerOptions, ServiceLog } from './service-log.ts';
import type { ServiceApp } from './service-options.ts';
import { type ServiceOptions, type ServiceSettings, settingsOf } from './service-options.ts';
import { signIn } from './sign-in.ts';

type Hook = (request: FastifyRequest) => Promise<void>;

export interface Service {
  readonly app: ServiceApp;
  readonly log: ServiceLog;
  /** `onRequest` of a route that only devices may use; `deviceOf(request)` returns the device. */
  requireDevice(route?: DeviceRouteOptions): Hook;
  /** `onRequest` of a route that needs an operator token with one of these roles. */
  readonly requireRole: RequireRole;
  /** Before `listen`: adds a check to `/readyz`. */
  check(name: string, check: Check): void;
  /** Returns the URL. */
  listen(address: Address): Promise<string>;
  /** Continues to serve but reports that it is not ready, for as long as balancers are given to notice. */
  drain(): Promise<void>;
  /** Accepts no more requests, finishes those under way, and ends. */
  close(): Promise<void>;
}

const SWEEP_MS = 100;
const ALLOWED_HEADERS = ['authorization', 'content-type', 'if-none-match', 'range', ...Object.values(HEADER)];
const EXPOSED_HEADERS = [HEADER.uploadOffset, 'etag', 'content-range', 'retry-after'];

export async function createService(options: ServiceOptions): Promise<Service> {
  const settings = settingsOf(options);
  const { clock, stopWithinMs } = settings;
  const { app, log } = makeApp(settings);
  const endUnused = unusedConnections(app, settings.tls !== undefined);
  const checks = new Map<string, Check>();
  let isDraining = false;
  let isStopping = false;

  compileAtFirstUse(app);
  readBodies(app);
  app.setErrorHandler((error, request, reply) => answerError(log, error, request, reply));
  const otlp =
    settings.otlp && settings.metrics && startOtlp(settings.otlp, settings.metrics, otlpSituation(log, settings));
  tellAnswers(app, (answer) => {
    settings.onAnswer?.(answer);
    otlp?.answered(answer);
  });
  refuseOddHeads(app);
  const listensAt = refuseOtherHosts(app, settings.hosts ?? []);
  refuseOtherOrigins(app, settings.corsOrigins ?? []);
  if (settings.corsOrigins !== undefined && settings.corsOrigins.length > 0) {
    await app.register(cors, {
      origin: [...settings.corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'],
      allowedHeaders: ALLOWED_HEADERS,
      exposedHeaders: EXPOSED_HEADERS,
      maxAge: 86_400,
    });
  }
  // After CORS, whose own route matches every address.
  const methodsOf = allowedMethods(app);
  app.setNotFoundHandler((request, reply) => {
    const methods = methodsOf(request.url.split('?')[0] ?? '');
    if (methods.length === 0) return sendProblem(log, reply, Problems.problemDocument('not-found'));
    return sendProblem(log, reply.header('allow', methods.join(', ')), Problems.problemDocument('method-not-allowed'));
  });
  askBeforeBodies(app);
  const addresses = new TokenBuckets(settings.addressLimit);
  const overload = watchOverload(settings);
  app.addHook('onRequest', async (request) => {
    if (PROBES.has(request.routeOptions.url ?? '')) return;
    if (isStopping) fail('stopping', { retryAfterMs: stopWithinMs });
    const wait = addresses.take(networkOf(request.ip), clock());
    if (wait !== undefined) fail('rate-limited', wait);
    overload.check(request.routeOptions.config);
  });
  app.addHook('onSend', async (_, reply) => {
    if (isStopping) reply.header('connection', 'close'); // a kept-alive connection would delay the stop
  });
  await app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: settings.title, version: '1' } } });
  const typed = app.withTypeProvider<TypeBoxTypeProvider>();
  const health = Type.Object({ status: Type.Literal('ok') });
  typed.get('/v1/health', { schema: { summary: 'Requests are taken', response: answers(health) } }, async () => ({
    status: 'ok' as const,
  }));
  typed.get('/v1/openapi.json', { schema: { hide: true } }, async () => app.swagger());
  const { requireRole, rolesOf } = operatorRequests(
    settings.operators ?? [],
    settings.signIn && signIn(settings.signIn, clock),
  );
  const roles = answers(Type.Object({ roles: Type.Array(Type.String()) }));
  typed.get(
    ROLES_PATH,
    { schema: { summary: 'The roles of the token (any role)', response: roles } },
    async (request) => ({
      roles: [...(await rolesOf(request))],
    }),
  );
  mountProbes(typed, checks, () => isDraining);
  mountMetrics(typed, settings, requireRole);
  settings.metrics?.gauge('basa_tls_days_left', () => [[{}, tlsDaysLeft(settings)]]);
  settings.metrics?.gauge('basa_draining', () => [[{}, Number(isDraining)]]);

  return {
    app: typed,
    log,
    requireDevice: deviceRequests({ ...settings, limits: new TokenBuckets(settings.deviceLimit) }),
    requireRole,
    check: (name, check) => void checks.set(name, check),
    listen: (address) => {
      listensAt(address.host);
      return listen(app, address);
    },
    async drain() {
      isDraining = true;
      await wait(settings.drainMs, undefined, { ref: false });
    },
    async close() {
      isDraining = true;
      isStopping = true;
      const force = setTimeout(() => app.server.closeAllConnections(), stopWithinMs);
      // Connections whose last answer was under way when the stop began are idle only now.
      const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
      endUnused();
      await app.close();
      await otlp?.close();
      log.end();
      overload.stop();
      clearTimeout(force);
      clearInterval(sweep);
    },
  };
}

const DAY_MS = 86_400_000;

/** Not a number without TLS: no alert compares with it. */
function tlsDaysLeft({ tls, clock }: ServiceSettings): number {
  return tls === undefined ? Number.NaN : (Date.parse(new X509Certificate(tls.cert).validTo) - clock()) / DAY_MS;
}

function otlpSituation(log: ServiceLog, { tls, metrics }: ServiceSettings) {
  const onTrouble = (error: unknown): void => {
    metrics?.count('basa_troubles_total', {});
    log.fault('metrics were not sent', new ExpectedFault((error as Error).message));
  };
  return { scheme: tls === undefined ? 'http' : 'https', onTrouble };
}

/** The log has method, path, status and time of each request at the level `debug`. */
function tellAnswers(app: FastifyInstance, onAnswer: (answer: Answer) => void): void {
  app.addHook('onRequest', async (request) => request.log.debug({ req: request }, 'incoming request'));
  app.addHook('onResponse', async (request, reply) => {
    const { headers, method, routeOptions } = request;
    request.log.debug({ res: reply, responseTime: reply.elapsedTime }, 'request completed');
    onAnswer({
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      problem: problemSent(reply),
      ms: reply.elapsedTime,
      received: Number(headers['content-length'] ?? 0),
      sent: Number(reply.getHeader('content-length') ?? 0),
    });
  });
}

/** Tells a sender that asks first (`Expect: 100-continue`) to continue only once its request has been admitted. */
function askBeforeBodies(app: FastifyInstance): void {
  const waiting = new WeakSet<IncomingMessage>();
  app.server.on('checkContinue', (message: IncomingMessage, response: ServerResponse) => {
    waiting.add(message);
    app.routing(message, response);
  });
  app.addHook('preParsing', async ({ raw }, reply) => {
    if (waiting.delete(raw)) reply.raw.writeContinue();
  });
  app.addHook('onSend', async ({ raw }, reply) => {
    if (waiting.has(raw)) reply.header('connection', 'close'); // its body never comes
  });
}

function makeApp(settings: ServiceSettings): { readonly app: FastifyInstance; readonly log: ServiceLog } {
  let log: ServiceLog;
  const common = {
    // Fastify logs requests at `info`; `tellAnswers` logs them at `debug`.
    logController: new LogController({ disableRequestLogging: true }),
    logger: loggerOptions(settings.metrics?.service ?? settings.title, settings.log ?? { level: 'silent' }),
    bodyLimit: settings.bodyLimitBytes,
    requestTimeout: settings.requestTimeoutMs,
    trustProxy: (_: string, hop: number) => hop < settings.trustedProxies,
    exposeHeadRoutes: true, // monitors and caches send HEAD wherever GET is answered
    return503OnClosing: false, // our own hook answers with a problem document
    forceCloseConnections: 'idle' as const,
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      answerError(log, error, request, reply),
  };
  const { tls, requestTimeoutMs } = settings;
  // Node looks for slow senders every 30 s, and limits complete requests by the longer of two time-outs. A time-out below a minute
  // therefore needs a shorter interval and a shorter time-out for heads.
  const looking = {
    connectionsCheckingInterval: Math.min(30_000, Math.ceil(requestTimeoutMs / 4)),
    headersTimeout: Math.min(60_000, requestTimeoutMs),
    requestTimeout: requestTimeoutMs,
  };
  const app =
    tls === undefined
      ? fastify({ ...common, http: looking })
      : (fastify({ ...common, https: { ...looking, ...tls } }) as unknown as FastifyInstance);
  log = new ServiceLog(app.log);
  return { app, log };
}
