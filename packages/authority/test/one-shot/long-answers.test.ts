/** Sums for a server that does not read its answers, or asks for many: the authority keeps few of them, and serves other tasks. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { AUTHORITY_PATH } from '@basa/protocol';
import { afterAll, afterEach, expect, it } from 'vitest';
import type { Authority } from '../../src/index.ts';
import type { Answer } from '../asking.ts';
import { cleanUp, freshHome, start, time } from '../homes.ts';
import { type ShotWorld, shotStage } from './shot-world.ts';
import { votesOf } from './sums.ts';

/** A vector of it is larger than what a connection holds for a receiver that does not read. */
const UNREAD = { dimension: 6_000_000 };
/** Its sums take some time. */
const LONG = { dimension: 1_500_000 };

const unread: ClientRequest[] = [];
afterEach(() => {
  for (const one of unread.splice(0)) one.destroy();
});
afterAll(cleanUp);

/** A task with a final batch: its releases with the vector, and with its hash only. */
async function released(authority: Authority, more = {}) {
  const world = await shotStage([authority], 3, more);
  const epochs = await world.epochs([authority]);
  const uploads = await world.uploads([authority]);
  const votes = await votesOf(world, [authority], uploads, epochs);
  const asking = (vector: boolean) => world.releaseRequest({ uploads, epochs, votes, wanted: [{ part: 0, vector }] });
  const release = (vector = true): Promise<Answer> => world.release(authority, asking(vector));
  return { world, body: asking(true), release };
}

/** Sends the request, waits for the head of the answer, and reads nothing more. */
async function leftUnread(authority: Authority, { server, task }: ShotWorld, body: Uint8Array): Promise<ClientRequest> {
  const path = AUTHORITY_PATH.releases(task);
  const signed = { audience: authority.publicKey, method: 'POST', target: path, body, at: time.now };
  const headers = {
    'content-type': 'application/octet-stream',
    'content-length': String(body.length),
    ...signingDevice(server.signer).headers(signed),
  };
  const sent = request(authority.url + path, { method: 'POST', headers, agent: false });
  unread.push(sent);
  sent.on('error', () => undefined);
  const answer = new Promise<IncomingMessage>((resolve) => sent.once('response', resolve));
  sent.end(body);
  expect((await answer).statusCode).toBe(200);
  return sent;
}

it('answers that are not read count until their receivers are gone, and another task gets its sums', async () => {
  const authority = await start(freshHome());
  const long = await released(authority, UNREAD);
  const other = await released(authority);
  const [first] = [
    await leftUnread(authority, long.world, long.body),
    await leftUnread(authority, long.world, long.body),
  ] as const;
  const { status, code } = await long.release();
  expect([status, code]).toEqual([503, 'overloaded']);
  expect((await other.release()).status).toBe(200);
  expect((await long.release(false)).status).toBe(200); // a hash needs no room
  first.destroy();
  await expect.poll(async () => (await long.release()).status).toBe(200);
}, 20_000);

it('many sums of one task do not hold up a sum of another one', async () => {
  const authority = await start(freshHome());
  const long = await released(authority, LONG);
  const other = await released(authority);
  const ended: string[] = [];
  const many = Array.from({ length: 8 }, () => long.release(false).then(() => ended.push('one of many')));
  await many[0];
  await other.release().then(() => ended.push('other'));
  await Promise.all(many);
  expect(ended.indexOf('other')).toBeLessThan(4);
}, 20_000);
