/** Metrics of a service's answers: requests, refusals, bytes and time, by step. */
import type { ProblemCode } from '@basa/protocol';
import type { Metrics } from './metrics.ts';

/** A request once it is answered, without anything about its sender. */
export interface Answer {
  readonly method: string;
  /** The pattern of its route; undefined if there is no such route. */
  readonly route: string | undefined;
  readonly status: number;
  readonly problem: ProblemCode | undefined;
  readonly ms: number;
  /** Bytes of the bodies, as far as they were declared. */
  readonly received: number;
  readonly sent: number;
}

const BOTH = { 'GET /healthz': 'probe', 'GET /readyz': 'probe', 'GET /metrics': 'scrape' };

/** `steps` names routes, as `METHOD pattern`; all others are `other`. */
export function countAnswers(metrics: Metrics, steps: Readonly<Record<string, string>>): (answer: Answer) => void {
  const stepOf: Readonly<Record<string, string>> = { ...BOTH, ...steps };
  return ({ method, route, status, problem, ms, received, sent }) => {
    const step = stepOf[`${method} ${route}`] ?? 'other';
    metrics.count('basa_requests_total', { step, status: String(status) });
    metrics.observe('basa_request_seconds', { step }, ms / 1000);
    if (sent > 0) metrics.count('basa_sent_bytes_total', { step }, sent);
    if (problem !== undefined) metrics.count('basa_refusals_total', { step, reason: problem });
    else if (received > 0) metrics.count('basa_received_bytes_total', { step }, received);
  };
}
