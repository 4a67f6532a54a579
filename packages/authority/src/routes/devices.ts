/** Devices: tokens and lists for the owner, enrolment for devices, revocation, and their way to a task that succeeds theirs. */
import { fromHex, toHex } from '@basa/masking';
import type { TaskId, UserId } from '@basa/protocol';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, Devices } from '@basa/protocol/wire';
import { answers, closed, deviceOf, fail, hexText, rememberRequest, sendBytes, Type, wireBytes } from '@basa/service';
import type { AuthorityContext } from '../steps/context.ts';
import { enrol, exportDevices, importDevices, revoke } from '../steps/enrolment.ts';
import { ROLES, rolesIn, taskOf, taskParams } from './route-tools.ts';

// Devices: tokens and lists for the owner, enrolment for devices, revocation.

const MAX_AT_ONCE = 1000;

export function deviceRoutes(context: AuthorityContext): void {
  const { service, tasks, store, now } = context;
  const { app, requireRole, requireDevice } = service;

  app.post(
    AUTHORITY_PATH.tokens(':task'),
    {
      onRequest: requireRole(...ROLES.registerTokens),
      bodyLimit: 100 * MAX_AT_ONCE,
      schema: {
        summary: `Registers hashes of enrolment tokens, each for one device ${rolesIn(ROLES.registerTokens)}`,
        params: taskParams,
        body: Type.Object(
          {
            hashes: Type.Array(hexText(32), {
              minItems: 1,
              maxItems: MAX_AT_ONCE,
              description: 'SHA-256 of the proof for this authority that each token gives',
            }),
            endsAt: Type.Integer({ minimum: 0 }),
          },
          closed,
        ),
        response: answers(Type.Object({ registered: Type.Integer() })),
      },
    },
    async (request) => {
      const { hashes, endsAt } = request.body;
      if (endsAt <= now()) fail('malformed', { detail: 'body/endsAt is in the past' });
      const { task } = taskOf(tasks, request.params);
      await store.transaction(async (tables) => {
        for (const hash of hashes) await tables.addToken(fromHex(hash) as Uint8Array, task, endsAt);
      });
      return { registered: hashes.length };
    },
  );

  app.put(
    AUTHORITY_PATH.allowList(':task'),
    {
      onRequest: requireRole(...ROLES.allowDevices),
      bodyLimit: 100 * MAX_AT_ONCE,
      schema: {
        summary: `Adds devices to the allow-list ${rolesIn(ROLES.allowDevices)}`,
        params: taskParams,
        body: Type.Object({ deviceKeys: Type.Array(hexText(32), { maxItems: MAX_AT_ONCE }) }, closed),
        response: answers(Type.Object({ allowed: Type.Integer({ description: 'number of devices on the list' }) })),
      },
    },
    async (request) => {
      const { task } = taskOf(tasks, request.params);
      const allowed = await store.transaction(async (tables) => {
        for (const deviceKey of request.body.deviceKeys) await tables.allow(task, fromHex(deviceKey) as Uint8Array);
        return tables.countAllowed(task);
      });
      return { allowed };
    },
  );

  app.post(
    AUTHORITY_PATH.enrolments(':task'),
    {
      onRequest: requireDevice(),
      schema: {
        summary: 'Enrols the device that signs',
        params: taskParams,
        body: Type.Object(
          {
            proof: Type.Optional(hexText(32, 'of the token of the device, for this authority')),
          },
          closed,
        ),
        response: answers(wireBytes('certificate')),
      },
    },
    async (request, reply) => {
      const certificate = await enrol(context, taskOf(tasks, request.params), deviceOf(request), request.body.proof);
      rememberRequest(request);
      return sendBytes(reply, Certificate.encode(certificate));
    },
  );

  const device = Type.Object({
    user: hexText(32, 'SHA-256 of the device key'),
    deviceKey: hexText(32),
    revoked: Type.Boolean(),
  });
  app.get(
    AUTHORITY_PATH.devices(':task'),
    {
      onRequest: requireRole(...ROLES.listDevices),
      schema: {
        summary: `The enrolled devices of a task, in the order of their names ${rolesIn(ROLES.listDevices)}`,
        params: taskParams,
        querystring: Type.Object({
          from: Type.Optional(Type.String({ pattern: '^[0-9a-f]{0,64}$', description: 'the first name to list' })),
          most: Type.Optional(
            Type.String({ pattern: '^([1-9][0-9]{0,2}|1000)$', description: 'number of devices in a response' }),
          ),
        }),
        response: answers(
          Type.Object({
            devices: Type.Array(device),
            next: Type.Optional(hexText(32, 'the first name of the next response')),
          }),
        ),
      },
    },
    async ({ params, query }) => {
      const { from = '' } = query;
      const most = Number(query.most ?? MAX_AT_ONCE);
      const { task } = taskOf(tasks, params);
      const first = fromHex(from.padEnd(64, '0')) as Uint8Array;
      const found = await store.transaction((tables) => tables.devices(task, first, most + 1));
      const listed = found.map(({ user, deviceKey, isRevoked }) => ({
        user: toHex(user),
        deviceKey: toHex(deviceKey),
        revoked: isRevoked,
      }));
      const next = listed[most]?.user;
      return { devices: listed.slice(0, most), ...(next !== undefined && { next }) };
    },
  );

  app.get(
    AUTHORITY_PATH.deviceCount(':task'),
    {
      schema: {
        summary: 'The number of devices that this authority let in and did not revoke',
        params: taskParams,
        response: answers(Type.Object({ devices: Type.Integer() })),
      },
    },
    async ({ params }) => {
      const { task } = taskOf(tasks, params);
      return { devices: await store.transaction((tables) => tables.countDevices(task)) };
    },
  );

  app.post(
    AUTHORITY_PATH.revocations,
    {
      onRequest: requireRole(...ROLES.revoke),
      schema: {
        summary: `Revokes a device: its uploads are refused, and servers are informed ${rolesIn(ROLES.revoke)}`,
        body: Type.Object({ user: hexText(32, 'SHA-256 of the device key') }, closed),
        response: answers(Type.Object({ revoked: Type.Literal(true) })),
      },
    },
    async (request) => {
      await revoke(context, fromHex(request.body.user) as UserId);
      return { revoked: true as const };
    },
  );

  app.get(
    AUTHORITY_PATH.revocations,
    { schema: { summary: 'All devices that were revoked', response: answers(wireBytes('revocations')) } },
    async (_, reply) => {
      const users = await store.transaction((tables) => tables.revoked(Devices.MAX_REVOCATIONS));
      return sendBytes(reply, Devices.Revocations.encode(Devices.signRevocations(context, users)));
    },
  );
}

// The devices of a task on their way to the task that succeeds it, for the owners of both sides.

const MAX_PAGES = 32;
const hex = Type.String({ pattern: '^([0-9a-f]{2})+$' });

export function successorRoutes(context: AuthorityContext): void {
  const { service, tasks } = context;
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
      const range = { from: first, most: Devices.MAX_EXPORTED };
      const { page, next } = await exportDevices(context, taskOf(tasks, params), successor, range);
      return { page: toHex(Devices.DeviceExport.encode(page)), ...(next !== undefined && { next: toHex(next) }) };
    },
  );

  app.post(
    AUTHORITY_PATH.deviceImport(':task'),
    {
      onRequest: requireRole(...ROLES.importDevices),
      bodyLimit: MAX_PAGES * 100 * Devices.MAX_EXPORTED,
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
      const predecessor = TaskPolicy.decode(fromHex(body.policy) as Uint8Array);
      const pages = body.pages.map((page) => Devices.DeviceExport.decode(fromHex(page) as Uint8Array));
      return { ...(await importDevices(context, taskOf(tasks, params), predecessor, pages)) };
    },
  );
}
