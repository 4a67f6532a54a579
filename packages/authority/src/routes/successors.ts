/** The devices of a task on their way to the task that succeeds it, for the owners of both sides. */
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, decodePolicy, deviceExportCodec, MAX_EXPORTED, type TaskId } from '@basa/protocol';
import { answers, closed, hexText, Type } from '@basa/service';
import { exportDevices, importDevices } from '../steps/successors.ts';
import { taskOf, taskParams } from './names.ts';
import { ROLES, rolesIn } from './roles.ts';
import type { RouteTools } from './route-tools.ts';

const MAX_PAGES = 32;
const hex = Type.String({ pattern: '^([0-9a-f]{2})+$' });

export function successorRoutes({ service, tasks, enrolment }: RouteTools): void {
  const { app, requireRole } = service;

  app.get(
    AUTHORITY_PATH.deviceExport(':task', ':successor'),
    {
      onRequest: requireRole(...ROLES.exportDevices),
      schema: {
        summary: `The devices of a task, signed for the task that succeeds it ${rolesIn(ROLES.exportDevices)}`,
        params: Type.Object({ ...taskParams.properties, successor: hexText(32, 'SHA-256 of its policy') }),
        querystring: Type.Object({
          from: Type.Optional(Type.String({ pattern: '^[0-9a-f]{0,64}$', description: 'the first device' })),
        }),
        response: answers(
          Type.Object({
            page: Type.String({ description: 'a deviceExport, in hexadecimal' }),
            next: Type.Optional(hexText(32, 'the first device of the next page')),
          }),
        ),
      },
    },
    async ({ params, query: { from = '' } }) => {
      const successor = fromHex(params.successor) as TaskId;
      const first = fromHex(from.padEnd(64, '0')) as Uint8Array;
      const range = { from: first, most: MAX_EXPORTED };
      const { page, next } = await exportDevices(enrolment, taskOf(tasks, params), successor, range);
      return { page: toHex(deviceExportCodec.encode(page)), ...(next !== undefined && { next: toHex(next) }) };
    },
  );

  app.post(
    AUTHORITY_PATH.deviceImport(':task'),
    {
      onRequest: requireRole(...ROLES.importDevices),
      bodyLimit: MAX_PAGES * 100 * MAX_EXPORTED,
      schema: {
        summary: `Takes the devices that the authorities of the task before this one export ${rolesIn(ROLES.importDevices)}`,
        params: taskParams,
        body: Type.Object(
          {
            policy: Type.String({ ...hex, description: 'of the task before this one' }),
            pages: Type.Array(hex, { minItems: 1, maxItems: MAX_PAGES }),
          },
          closed,
        ),
        response: answers(Type.Object({ enrolled: Type.Integer(), revoked: Type.Integer(), unknown: Type.Integer() })),
      },
    },
    async ({ params, body }) => {
      const predecessor = decodePolicy(fromHex(body.policy) as Uint8Array);
      const pages = body.pages.map((page) => deviceExportCodec.decode(fromHex(page) as Uint8Array));
      return { ...(await importDevices(enrolment, taskOf(tasks, params), predecessor, pages)) };
    },
  );
}
