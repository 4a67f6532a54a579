/** Heads in both directions: a request may show the newest head its sender saw, and every answer carries ours. */
import { equalBytes, fromHex, toHex } from '@basa/masking';
import { HEADER, headCodec } from '@basa/protocol';
import { fail } from '@basa/service';
import type { RouteTools } from './route-tools.ts';

export function exchangeHeads({ service, authority }: RouteTools): void {
  service.app.addHook('onRequest', async (request) => {
    const text = request.headers[HEADER.head];
    if (text === undefined) return;
    const seen = fromHex(String(text)) ?? fail('malformed', { detail: `${HEADER.head}: not lower-case hexadecimal` });
    // The head that we sent last needs no check.
    if (!equalBytes(seen, authority.headBytes())) await authority.meet(headCodec.decode(seen));
  });
  service.app.addHook('onSend', async (_, reply) => {
    reply.header(HEADER.head, toHex(authority.headBytes()));
  });
}
