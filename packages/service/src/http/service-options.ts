/** The options of a service and their defaults, and its application. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { Answer, Metrics } from '../metrics/metrics.ts';
import type { OtlpOptions } from '../metrics/otlp.ts';
import type { RateLimit } from './limits.ts';
import type { Operator } from './operators.ts';
import type { LogOptions } from './service-log.ts';
import type { SignInOptions } from './sign-in.ts';

export const METRICS_ACCESS = ['off', 'token', 'open'] as const;
type MetricsAccess = (typeof METRICS_ACCESS)[number];

export interface ServiceOptions {
  readonly title: string;
  /** The public key that devices name when they sign. */
  readonly audience: Uint8Array;
  readonly clock: () => number;
  /** The metrics of the service, served at `/metrics`. */
  readonly metrics?: Metrics;
  /** Access to the metrics: no access, tokens with the role `metrics`, `operator` or `admin`, or every client that can reach the port. */
  readonly metricsAccess?: MetricsAccess;
  readonly operators?: readonly Operator[];
  /** An issuer whose tokens make operators, too. */
  readonly signIn?: SignInOptions | undefined;
  /** Where the metrics are sent once a minute. */
  readonly otlp?: OtlpOptions | undefined;
  readonly log?: LogOptions;
  /** Host names of the service besides `localhost` and the address it listens at; others are rejected. */
  readonly hosts?: readonly string[];
  /** Origins of web pages that may send requests; empty by default. */
  readonly corsOrigins?: readonly string[];
  readonly tls?: { readonly key: string | Buffer; readonly cert: string | Buffer };
  /** The number of proxies in front of this service that report the address of the sender. */
  readonly trustedProxies?: number;
  readonly bodyLimitBytes?: number;
  readonly requestTimeoutMs?: number;
  readonly addressLimit?: RateLimit;
  readonly deviceLimit?: RateLimit;
  readonly maxSkewMs?: number;
  readonly maxNonces?: number;
  /** The time for which a stopping service still answers but reports that it is not ready, so that balancers send no more traffic. */
  readonly drainMs?: number;
  /** The time that a stop waits for requests under way. */
  readonly stopWithinMs?: number;
  /** Returns the delay of the process in milliseconds; measured by default. */
  readonly lateMs?: () => number;
  onAnswer?(answer: Answer): void;
}

type Defaulted = Pick<
  ServiceOptions,
  | 'bodyLimitBytes'
  | 'requestTimeoutMs'
  | 'addressLimit'
  | 'deviceLimit'
  | 'maxSkewMs'
  | 'maxNonces'
  | 'stopWithinMs'
  | 'drainMs'
  | 'metricsAccess'
  | 'trustedProxies'
>;
export const SERVICE_DEFAULTS: Required<Defaulted> = {
  bodyLimitBytes: 65_536,
  requestTimeoutMs: 300_000,
  addressLimit: { burst: 400, perSecond: 200 },
  deviceLimit: { burst: 60, perSecond: 20 },
  maxSkewMs: 300_000,
  maxNonces: 1_000_000,
  stopWithinMs: 10_000,
  drainMs: 0,
  metricsAccess: 'token',
  trustedProxies: 0,
};

export type ServiceSettings = ServiceOptions & Required<Defaulted>;

export function settingsOf(options: ServiceOptions): ServiceSettings {
  return { ...SERVICE_DEFAULTS, ...options };
}

// Fastify as both services use it: routes are typed by their schemas.

export type ServiceApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
