/**
 * What is logged of requests: method, path, status and time, and the code of a no. No header, no query and no body ever is.
 * Every line says which service it is of.
 */
import { hostname } from 'node:os';
import type { FastifyLoggerOptions } from 'fastify';

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Where the lines go; the standard output otherwise. */
  readonly stream?: { write(line: string): void };
}

export function loggerOptions(
  service: string,
  { level, stream }: LogOptions,
): FastifyLoggerOptions & { readonly base: object } {
  return {
    level,
    base: { pid: process.pid, hostname: hostname(), service },
    serializers: {
      req: ({ method, url }) => ({ method, path: url.split('?')[0] }),
      res: ({ statusCode = 0 }) => ({ statusCode }),
    },
    ...(stream === undefined ? {} : { stream }),
  };
}
