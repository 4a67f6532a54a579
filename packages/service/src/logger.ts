/** What is logged of requests: method, path, status and time. No header, no query and no body ever is. */
import type { FastifyLoggerOptions } from 'fastify';

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** Where the lines go; the standard output otherwise. */
  readonly stream?: { write(line: string): void };
}

export function loggerOptions({ level, stream }: LogOptions): FastifyLoggerOptions {
  return {
    level,
    serializers: {
      req: ({ method, url }) => ({ method, path: url.split('?')[0] }),
      res: ({ statusCode = 0 }) => ({ statusCode }),
    },
    ...(stream === undefined ? {} : { stream }),
  };
}
