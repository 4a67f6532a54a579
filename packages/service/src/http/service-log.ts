/** The log of a service: requests at `debug`; events, refusals and faults at `info` or above, with repeats folded into one line a minute. */
import { hostname } from 'node:os';
import { toHex } from '@basa/masking';
import type { BasaEvent } from '@basa/protocol';
import { trace } from '@opentelemetry/api';
import type { FastifyBaseLogger, FastifyLoggerOptions } from 'fastify';
import { isStorageFull } from '../process/start-error.ts';
import { DatabaseUnavailable } from '../sql/postgres.ts';

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogOptions {
  readonly level: LogLevel;
  /** The target of the lines; standard output by default. */
  readonly stream?: { write(line: string): void };
}

/** Headers, queries and bodies are never logged. Every line names its service. */
export function loggerOptions(
  service: string,
  { level, stream }: LogOptions,
): FastifyLoggerOptions & { readonly base: object; mixin(): object } {
  return {
    level,
    base: { pid: process.pid, hostname: hostname(), service },
    mixin: traceIds,
    serializers: {
      req: ({ method, url }) => ({ method, path: url.split('?')[0] }),
      res: ({ statusCode = 0 }) => ({ statusCode }),
    },
    ...(stream === undefined ? {} : { stream }),
  };
}

/** The span under way, if an OpenTelemetry SDK is registered: a line of the log belongs to its trace. */
function traceIds(): object {
  const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
  return traceId === undefined ? {} : { trace_id: traceId, span_id: spanId };
}

/** A fault of the surroundings, which the sentence explains: the log has no stack of it. */
export class ExpectedFault extends Error {}

const FOLD_MS = 60_000;

/** The same line is written once a minute; what is left out is counted, and told at the end of the minute. */
export class ServiceLog {
  readonly #log: FastifyBaseLogger;
  readonly #recent = new Map<string, { repeats: number; readonly timer: NodeJS.Timeout; readonly write: Write }>();

  constructor(log: FastifyBaseLogger) {
    this.#log = log;
  }

  /** Something an operator may want to know. */
  note(what: string, about: object): void {
    this.#folded(`${what} ${JSON.stringify(about)}`, (more) => this.#log.info({ ...about, ...more }, what));
  }

  /** An operation failed; if the fault is not expected, the line has its stack. */
  fault(what: string, error: unknown, level: 'warn' | 'error' = 'warn'): void {
    const { message = String(error) } = (error ?? {}) as Partial<Error>;
    const isExpected = error instanceof ExpectedFault || error instanceof DatabaseUnavailable || isStorageFull(error);
    const about = isExpected ? { reason: message } : { err: error };
    this.#folded(`${what} ${message}`, (more) => this.#log[level]({ ...about, ...more }, what));
  }

  /** What an operator counts is told at `info`, with its task; each upload at `debug`. */
  event(event: BasaEvent, task?: string): void {
    const level = LEVELS.get(event.kind) ?? 'info';
    if (level === 'debug' && !['debug', 'trace'].includes(this.#log.level)) return;
    const named = Object.entries(event).map(([key, value]) => [
      key,
      value instanceof Uint8Array ? toHex(value) : value,
    ]);
    // The trace of a batch has the first 16 bytes of its name (traces/batch-traces.ts).
    const trace = 'ctx' in event ? { trace_id: toHex(event.ctx).slice(0, 32) } : {};
    const about = { event: Object.fromEntries(named), ...(task !== undefined && { task }), ...trace };
    this.#log[level](about, event.kind);
  }

  /** Tells what is still folded. */
  end(): void {
    for (const key of [...this.#recent.keys()]) this.#tell(key);
    for (const { timer } of this.#recent.values()) clearTimeout(timer);
    this.#recent.clear();
  }

  #folded(key: string, write: Write): void {
    const recent = this.#recent.get(key);
    if (recent !== undefined) {
      recent.repeats++;
      return;
    }
    write({});
    const timer = setInterval(() => this.#tell(key), FOLD_MS);
    timer.unref();
    this.#recent.set(key, { repeats: 0, timer, write });
  }

  #tell(key: string): void {
    const recent = this.#recent.get(key);
    if (recent === undefined) return;
    if (recent.repeats > 0) {
      recent.write({ repeats: recent.repeats });
      recent.repeats = 0;
      return;
    }
    clearInterval(recent.timer);
    this.#recent.delete(key);
  }
}

type Write = (more: { readonly repeats?: number }) => void;

const LEVELS: ReadonlyMap<BasaEvent['kind'], 'warn' | 'debug'> = new Map([
  ['authority-fault', 'warn'],
  ['upload-accepted', 'debug'],
  ['refused', 'debug'],
]);
