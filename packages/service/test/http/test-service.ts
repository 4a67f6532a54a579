/** A service with a few routes, and requests to it as a device signs them. */

import { signingDevice } from '@basa/conformance/signing-device.ts';
import { DecodeError, toHex } from '@basa/masking';
import { refused } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach } from 'vitest';
import {
  answers,
  bytesOf,
  closed,
  createService,
  deviceOf,
  fail,
  granted,
  hexText,
  rememberRequest,
  type Service,
  type ServiceOptions,
  Type,
  wireBytes,
} from '../../src/index.ts';

const audience = nodeRandomBytes(32);
export const NOW = 1_800_000_000_000;
export const token = 'a-token-nobody-guesses';
const operators = [
  { tokenHash: toHex(nodeSuite.sha256(Buffer.from(token))), roles: ['operator' as const] },
  { tokenHash: toHex(nodeSuite.sha256(Buffer.from('other'))), roles: ['auditor' as const] },
];

const open: Service[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

export async function serviceWith(more: Partial<ServiceOptions> = {}): Promise<Service> {
  const service = await createService({ title: 'test', audience, clock: () => NOW, operators, ...more });
  open.push(service);
  const { app } = service;
  app.post(
    '/v1/echo',
    { onRequest: service.requireDevice(), schema: { body: wireBytes('bytes') } },
    async (request) => {
      rememberRequest(request);
      return { user: toHex(deviceOf(request).user), length: bytesOf(request, 100).length };
    },
  );
  const hello = Type.Object({ name: Type.String(), id: Type.Optional(hexText(2)) }, closed);
  const named = { body: hello, response: answers(Type.Object({ name: Type.String() })) };
  app.post('/v1/named', { onRequest: service.requireDevice(), schema: named }, async ({ body }) => ({
    name: body.name,
  }));
  app.get('/v1/look', { onRequest: service.requireDevice() }, async () => ({}));
  app.get('/v1/staff', { onRequest: service.requireRole('operator') }, async () => ({}));
  app.post('/v1/open', async () => ({}));
  app.get('/v1/fails/:how', async (request) => {
    const { how } = request.params as { how: string };
    if (how === 'refusal') granted(refused('second-position', { uploads: [3] }));
    if (how === 'decode') throw new DecodeError('ticket.position', 'truncated');
    if (how === 'full') throw Object.assign(new Error('x'), { code: 'ENOSPC' });
    if (how === 'sqlite-full') throw Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    if (how === 'later') fail('task-paused', { retryAfterMs: 1500 });
    throw new Error('the secret is 12345');
  });
  return service;
}

export const device = signingDevice();
export function signed(target: string, body: Uint8Array | undefined, more: { at?: number; method?: string } = {}) {
  const method = more.method ?? (body === undefined ? 'GET' : 'POST');
  const headers: Record<string, string> = device.headers({ audience, target, at: NOW, body, ...more, method });
  if (body !== undefined) headers['content-type'] = 'application/octet-stream';
  return {
    method: method as 'GET' | 'POST',
    url: target,
    headers,
    ...(body === undefined ? {} : { payload: Buffer.from(body) }),
  };
}
export const codeOf = (answer: { json(): { type: string } }) => answer.json().type.replace('urn:basa:problem:', '');
