/** The ends of buffers when not everybody stays, or not everybody is honest. One-hot updates make each sum its own witness. */
import type { BasaClient, Contribution } from '@basa/client/node';
import { SERVER_PATH } from '@basa/protocol';
import { hashOf, holdUpload, otherHeader, send } from '@basa/testkit/services/held-upload.ts';
import { countsOf, oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const SEAT_MS = 30_000;
const QUOTA_MS = 4 * 3_600_000;
let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ server: { seatMs: SEAT_MS, burntSlots: { max: 1, withinMs: QUOTA_MS } } });
});
afterAll(() => services.close());

async function contribute(name: string, place: number): Promise<{ client: BasaClient; contribution: Contribution }> {
  const client = await services.client(name);
  const contribution = await client.contribute(oneHot(place, services.policy.dimension), { trainedOn: 0 });
  if (contribution.kind !== 'accepted') throw new Error(`${name}: ${contribution.reason}`);
  return { client, contribution };
}

/** Goes so far and is never seen again. */
async function leaveAt(name: string, place: number, isNow: (step: string, sent: number) => boolean): Promise<void> {
  const client = await services.client(name, { pieceBytes: 30 });
  const leaving = new AbortController();
  client.on('progress', ({ step, sent = 0 }) => isNow(step, sent) && leaving.abort());
  const { signal } = leaving;
  await expect(client.contribute(oneHot(place), { trainedOn: 0, signal })).rejects.toThrow();
}

it('the masks of devices that leave at every step are removed with the help of those who stay, in one buffer', async () => {
  await services.createTask({ bufferSize: 8, minimum: 4 });
  await leaveAt('after its seat', 7, (step) => step === 'deposit');
  const { contribution } = await contribute('a', 0);
  await leaveAt('after its deposit', 7, (step) => step === 'key');
  await contribute('b', 1);
  await leaveAt('after its key', 7, (step) => step === 'mask');
  await contribute('c', 2);
  await leaveAt('before its upload', 7, (step) => step === 'upload');
  await leaveAt('in its upload', 7, (step, sent) => step === 'upload' && sent > 0);
  services.elapse(SEAT_MS + 1); // the seat nobody used is free again
  await contribute('d', 3);
  const { slots } = await services.bufferState(contribution.ctx);
  expect(slots.map(({ status }) => status)).toEqual([
    'accepted',
    'assigned',
    'accepted',
    'assigned',
    'accepted',
    'assigned',
    'assigned',
    'accepted',
  ]);
  services.elapse(services.policy.uploadLeaseMs + 1);
  expect(countsOf(await services.reached(1), 4)).toEqual([1, 1, 1, 1, 0, 0, 0, 0]);
  expect(await services.bufferState(contribution.ctx)).toMatchObject({ status: 'included', accepted: [0, 2, 4, 7] });
});

it('a device that calls an edge void is left out, and may send its update elsewhere', async () => {
  await services.createTask({ bufferSize: 4, minimum: 3 });
  const { contribution } = await contribute('a', 0);
  const liar = await holdUpload(services, 1);
  expect(liar.slot).toBe(1);
  const body = liar.body.subarray(0, liar.body.length - 64); // without the backup of the edge
  const header = otherHeader(liar, 4, { voids: [0] as never, bodyHash: hashOf(body) });
  expect((await send(services, liar, { header, body })).answer).toMatchObject({ accepted: true });
  await contribute('c', 2);
  await contribute('d', 3);
  expect(countsOf(await services.reached(1), 3)).toEqual([1, 0, 1, 1, 0, 0, 0, 0]);
  expect((await services.bufferState(contribution.ctx)).accepted).toEqual([0, 2, 3]);
  expect(await liar.client.contribute(oneHot(1), { trainedOn: 0 })).toMatchObject({ kind: 'accepted', slot: 0 });
});

it('a buffer with enough updates is closed when no update has come for a while', async () => {
  await services.createTask({ bufferSize: 4 }, { stallMs: 60_000 });
  const { contribution } = await contribute('a', 0);
  await contribute('b', 1);
  services.elapse(59_000);
  expect((await services.bufferState(contribution.ctx)).status).toBe('filling');
  services.elapse(1001);
  expect(countsOf(await services.reached(1), 2)).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
});

it('a buffer with enough updates is closed when it expires, and without them when it must', async () => {
  await services.createTask({ bufferSize: 4 });
  const { contribution } = await contribute('a', 0);
  await contribute('b', 1);
  services.elapse(services.policy.openMs + 1);
  expect(countsOf(await services.reached(1), 2)).toEqual([1, 1, 0, 0, 0, 0, 0, 0]);
  expect((await services.bufferState(contribution.ctx)).status).toBe('included');
});

it('too few updates are given up when the authority aborts, and go elsewhere', async () => {
  await services.createTask({ bufferSize: 4 });
  const { client, contribution } = await contribute('a', 0);
  services.elapse(services.policy.openMs + 1);
  expect(await client.outcome(contribution)).toBe('undecided');
  expect(await client.contribute(oneHot(0), { trainedOn: 0 })).toMatchObject({ reason: 'delta-committed' });
  services.elapse(services.policy.closeMs + 1);
  await until(async () => (await services.bufferState(contribution.ctx)).status === 'aborted');
  expect(await client.outcome(contribution)).toBe('aborted');
  const again = await client.contribute(oneHot(0), { trainedOn: 0 });
  if (again.kind !== 'accepted') throw new Error(again.reason);
  expect(again.ctx).not.toBe(contribution.ctx);
});

it('a sum with wrong guard words is not applied, and no device is named or locked out for it', async () => {
  await services.createTask();
  const { client, contribution } = await contribute('honest', 0);
  const cheat = await holdUpload(services, 1);
  const body = cheat.body.map((byte, n) => (n === 5 ? byte ^ 1 : byte)); // the second guard word
  const header = otherHeader(cheat, 3, { bodyHash: hashOf(body) });
  expect((await send(services, cheat, { header, body })).answer).toMatchObject({ accepted: true });
  await contribute('another', 2);
  await until(async () => (await services.bufferState(contribution.ctx)).status === 'quarantined');
  // Every close is a version: this one has the parameters of the one before.
  expect((await services.taskState()).version).toBe(1);
  expect(countsOf(await services.reached(1), 3)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  expect(await client.outcome(contribution)).toBe('quarantined');
  expect(await client.contribute(oneHot(4), { trainedOn: 1 })).toMatchObject({ kind: 'accepted' });
});

it('a seed that does not open names its slot: only its device is suspended, and immediately', async () => {
  await services.createTask({ bufferSize: 4, minimum: 3 });
  const client = await services.client('honest');
  await leaveAt('a drop-out', 7, (step) => step === 'upload');
  const cheat = await holdUpload(services, 1);
  const body = cheat.body.map((byte, n) => (n === cheat.body.length - 1 ? byte ^ 1 : byte)); // the backup for slot 0
  const header = otherHeader(cheat, 4, { bodyHash: hashOf(body) });
  expect((await send(services, cheat, { header, body })).answer).toMatchObject({ accepted: true });
  const contribution = await client.contribute(oneHot(2), { trainedOn: 0 });
  await contribute('another', 3);
  services.elapse(services.policy.uploadLeaseMs + 1);
  await until(async () => (await services.bufferState(cheat.ctx)).status === 'quarantined');
  if (contribution.kind === 'accepted') expect(await client.outcome(contribution)).toBe('quarantined');
  expect(await client.contribute(oneHot(4), { trainedOn: 1 })).toMatchObject({ kind: 'accepted' });
  await cheat.client.discard();
  const next = oneHot(5);
  const asked = () => cheat.client.contribute(next, { trainedOn: 1 });
  expect(await asked()).toMatchObject({ reason: 'suspended', update: 'free' });
  const { suspects } = await services.operate<{ suspects: { user: string; state: string }[] }>(
    services.server.url,
    'GET',
    SERVER_PATH.suspicions(services.task),
  );
  expect(suspects.map(({ state }) => state)).toEqual(['suspended']);
  const path = SERVER_PATH.suspicion(services.task, suspects[0]?.user ?? '');
  await services.operate(services.server.url, 'PUT', path, { state: 'clear' });
  expect(await asked()).toMatchObject({ reason: 'quota-exceeded', update: 'free' });
  services.elapse(QUOTA_MS + 1);
  expect(await asked()).toMatchObject({ kind: 'accepted' });
});
