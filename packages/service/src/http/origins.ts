/** The web pages that may send requests: those of the service itself and of the listed origins. Other programs send no origin. */
import type { FastifyInstance } from 'fastify';
import { fail } from './problem.ts';

/** Must be mounted before CORS, which would keep the answer from the page but not the request from the service. */
export function refuseOtherOrigins(app: FastifyInstance, allowed: readonly string[]): void {
  app.addHook('onRequest', async ({ headers }) => {
    const { origin, host } = headers;
    if (origin === undefined || allowed.includes(origin) || (host !== undefined && hostOf(origin) === host)) return;
    fail('origin-refused', { detail: origin.slice(0, 200) });
  });
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}
