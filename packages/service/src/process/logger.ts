/**
 * Request logs: method, path, status and time, and the code of a refusal. Headers, queries and bodies are never logged.
 * Every line names its service.
 */
import { hostname } from 'node:os';
import type { FastifyLoggerOptions } from 'fastify';

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** The target of the lines; standard output by default. */
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
