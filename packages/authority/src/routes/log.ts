/** The whole log, for auditors. */
import { Readable } from 'node:stream';
import { AUTHORITY_PATH } from '@basa/protocol';
import { answers, BYTES_MEDIA_TYPE, wireBytes } from '@basa/service';
import { logChunks } from '../steps/log-file.ts';
import type { RouteTools } from './route-tools.ts';

export function logRoutes({ service, authority, store }: RouteTools): void {
  service.app.get(
    AUTHORITY_PATH.log,
    {
      onRequest: service.requireRole('auditor'),
      schema: {
        summary: 'The log (auditor)',
        response: answers(
          wireBytes('for each record a u32 length and the record, then a u32 zero and the signed head'),
        ),
      },
    },
    async (_, reply) => reply.type(BYTES_MEDIA_TYPE).send(Readable.from(logChunks(store, authority))),
  );
}
