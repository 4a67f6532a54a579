/** Long requests of the one-shot mode: their sender is known, and there is room for them, before their bodies are read. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { AUTHORITY_PATH } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { Authority } from '../../src/index.ts';
import { shotLimits } from '../../src/routes/shot-limits.ts';
import { cleanUp, freshHome, start, time } from '../homes.ts';
import { type ShotWorld, shotStage } from './shot-world.ts';

const asking: ClientRequest[] = [];
afterEach(() => {
  for (const one of asking.splice(0)) one.destroy();
});
afterAll(cleanUp);

interface Headed {
  readonly sent: ClientRequest;
  readonly answer: Promise<{ readonly status: number; readonly retryAfter: string | undefined; readonly text: string }>;
}

/** Sends the head of a request whose body never comes. */
function headOf(authority: Authority, path: string, length: number, signed: Record<string, string>): Headed {
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(length), ...signed };
  const sent = request(authority.url + path, { method: 'POST', headers });
  asking.push(sent);
  sent.flushHeaders();
  const answer = new Promise<Awaited<Headed['answer']>>((resolve, reject) => {
    sent.once('error', reject);
    sent.once('response', async (message: IncomingMessage) => {
      let text = '';
      for await (const piece of message) text += piece;
      resolve({ status: message.statusCode ?? 0, retryAfter: message.headers['retry-after'], text });
    });
  });
  answer.catch(() => undefined); // those that are given up
  return { sent, answer };
}

function signedBy(
  authority: Authority,
  path: string,
  body: Uint8Array,
  signer = createNodeSigner(nodeRandomBytes(32)),
): Record<string, string> {
  const at = time.now - 10 ** 10; // the clock of a server may be any
  return signingDevice(signer).headers({ audience: authority.publicKey, method: 'POST', target: path, body, at });
}

async function stand(): Promise<{ authority: Authority; world: ShotWorld; path: string }> {
  const authority = await start(freshHome());
  const world = await shotStage([authority], 0);
  return { authority, world, path: AUTHORITY_PATH.releases(world.task) };
}

it('are refused before their bodies come if the server of the task does not sign them', async () => {
  const { authority, world, path } = await stand();
  const body = new Uint8Array(50_000);
  const { signer } = world.server;
  const elsewhere = signedBy(authority, AUTHORITY_PATH.inspections(world.task), body, signer);
  const answers = await Promise.all(
    [{}, signedBy(authority, path, body), elsewhere].map((signed) => headOf(authority, path, 50_000, signed).answer),
  );
  expect(answers.map(({ status }) => status)).toEqual([401, 403, 401]);
  expect(answers.map(({ text }) => JSON.parse(text).type)).toEqual([
    'urn:basa:problem:unsigned',
    'urn:basa:problem:server-unknown',
    'urn:basa:problem:request-signature-invalid',
  ]);
});

it('are put off while others of the task are under way, and served when those are over', async () => {
  const { authority, world, path } = await stand();
  const { policy, server } = world;
  const length = shotLimits.release(policy);
  const body = new Uint8Array(length);
  const headed = () => headOf(authority, path, length, signedBy(authority, path, body, server.signer));
  const fitting = Array.from({ length: Math.floor(shotLimits.together(policy) / length) }, headed);
  const settled = await Promise.race([
    ...fitting.map(({ answer }) => answer),
    new Promise((done) => setTimeout(done, 300)),
  ]);
  expect(settled).toBeUndefined();
  const late = await headed().answer;
  expect(late).toMatchObject({ status: 503, retryAfter: '1' });
  expect(JSON.parse(late.text)).toMatchObject({ type: 'urn:basa:problem:overloaded' });
  for (const { sent } of fitting) sent.destroy();
  await expect.poll(async () => (await world.release(authority, body)).code).toBe('malformed');
});
