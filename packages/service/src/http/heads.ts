/** Rejects requests whose head a proxy and this service might read differently, or whose head is only meant to waste time. */
import type { FastifyInstance } from 'fastify';
import { fail } from './problem.ts';

/** Browsers send about 20 lines, and proxies add a few. Beyond 2000 Node silently drops lines. */
const MAX_HEADER_LINES = 100;

export function refuseOddHeads(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw: { rawHeaders, url = '' } }) => {
    if (rawHeaders.length > 2 * MAX_HEADER_LINES)
      fail('malformed', { detail: `more than ${MAX_HEADER_LINES} header lines; send fewer` });
    const hosts = rawHeaders.filter((text, n) => n % 2 === 0 && text.toLowerCase() === 'host');
    if (hosts.length > 1) fail('malformed', { detail: 'more than one Host header; send one' });
    if (!url.startsWith('/')) fail('malformed', { detail: 'the target is not a path; send one that begins with /' });
  });
}
