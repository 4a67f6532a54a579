/** Uploads in pieces: each durable before it is acknowledged, so that a device continues after any interruption. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { FIELD, ring } from '@basa/masking';
import { ShotUpload, shotLayout } from '@basa/protocol/wire';
import { holdUpload, otherBody, send, sendRaw } from '@basa/testkit/services/held-upload.ts';
import { snapshot } from '@basa/testkit/services/snapshot.ts';
import { countsOf, oneHot, TestServices, until } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ policy: { bufferSize: 3, minimum: 2, dimension: 64 } });
});
afterAll(() => services.close());

/** A body of more than the server gathers before it writes. */
const LONG = { dimension: 200_000 };
const FIRST_BYTES = 600_000;
/** After this, no epoch of now is open. */
const EPOCHS_MS = 3 * 3_600_000;

/** Files of uploads that are not whole. */
function staged(): readonly { readonly size: number }[] {
  const folder = join(services.folder, 'server', 'blobs', 'incoming', 'uploads');
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.map((name) => statSync(join(folder, name))).filter((file) => file.isFile() && file.size > 0);
}

describe('an upload that was cut after its half', () => {
  it('learns its offset and continues there, even after the server was restarted, and counts once', async () => {
    await services.createTask();
    const upload = await holdUpload(services, 0);
    const half = upload.body.length >> 1;
    const told = await send(services, upload, { body: upload.body.subarray(0, half) });
    expect(told.answer).toEqual({ received: half, accepted: false });
    await services.server.close();
    await services.startServer();
    expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(half);
    const elsewhere = await send(services, upload, { body: upload.body.subarray(half + 1), offset: half + 1 });
    expect(elsewhere).toMatchObject({ status: 409, code: 'offset-mismatch', offset: half });
    const again = await send(services, upload, { body: upload.body.subarray(0, half) });
    expect(again).toMatchObject({ status: 409, code: 'offset-mismatch', offset: half });
    const rest = await send(services, upload, { body: upload.body.subarray(half), offset: half });
    expect(rest.answer).toEqual({ received: upload.body.length, accepted: true });
    const [b, c] = await Promise.all(['b', 'c'].map((name) => services.client(name)));
    await b?.contribute(oneHot(1, 64), { trainedOn: 0 });
    await c?.contribute(oneHot(2, 64), { trainedOn: 0 });
    expect(countsOf(await services.reached(1), 3).slice(0, 4)).toEqual([1, 1, 1, 0]);
  });

  it('keeps its offset when a piece arrives damaged', async () => {
    await services.createTask();
    const upload = await holdUpload(services, 0);
    const piece = upload.body.subarray(0, 100);
    await send(services, upload, { body: piece });
    const before = snapshot(services);
    const next = upload.body.slice(100, 200);
    const damaged = await send(services, upload, { body: next.map((byte) => byte ^ 1), signed: next, offset: 100 });
    expect(damaged).toMatchObject({ code: 'digest-mismatch', offset: 100 });
    expect(snapshot(services)).toEqual(before);
    expect((await send(services, upload, { body: upload.body.subarray(100), offset: 100 })).answer).toMatchObject({
      accepted: true,
    });
  });

  it('does not take another body of its device: its version is given', async () => {
    await services.createTask();
    const upload = await holdUpload(services, 0);
    await send(services, upload, { body: upload.body.subarray(0, 100) });
    const before = snapshot(services);
    const body = upload.body.map((byte, n) => (n === 200 ? byte ^ 1 : byte));
    expect(await send(services, upload, otherBody(services, upload, body))).toMatchObject({
      status: 409,
      code: 'upload-differs',
    });
    expect(snapshot(services)).toEqual(before);
    const rest = await send(services, upload, { body: upload.body.subarray(100), offset: 100 });
    expect(rest.answer).toMatchObject({ accepted: true });
  });

  it('is taken over by its own device, while the old connection seems to be alive', async () => {
    await services.createTask(LONG);
    const upload = await holdUpload(services, 0);
    const headers = { 'content-length': String(upload.body.length) };
    let isOver = false;
    const hanging = sendRaw(
      services,
      upload,
      { body: upload.body, headers },
      [upload.body.subarray(0, FIRST_BYTES)],
      () => isOver,
    );
    await until(() => staged().length > 0);
    expect((await send(services, upload)).answer).toMatchObject({ accepted: true });
    isOver = true;
    expect(await hanging).not.toContain('accepted');
  });

  it('and whose body was stored, but not recorded when the server died, is taken from there without its bytes', async () => {
    await services.createTask();
    const upload = await holdUpload(services, 0);
    const half = upload.body.length >> 1;
    await send(services, upload, { body: upload.body.subarray(0, half) });
    // A small body leaves the folder of its pieces when it is stored.
    const folder = join(services.folder, 'server', 'blobs', 'incoming', 'uploads', upload.name);
    expect(readdirSync(folder)).toHaveLength(1);
    let isReached = false;
    await services.restartServer({
      clock: () => {
        isReached ||= readdirSync(folder).length === 0;
        if (isReached) throw new Error('the server is dead');
        return services.clock();
      },
    });
    const failed = await send(services, upload, { body: upload.body.subarray(half), offset: half });
    expect(failed).toMatchObject({ status: 500 });
    expect(isReached).toBe(true);
    await services.server.close().catch((error: unknown) => expect(String(error)).toContain('the server is dead'));
    await services.startServer();
    expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(upload.body.length);
    expect(await upload.client.resume()).toMatchObject({ kind: 'accepted' });
    for (const [n, name] of ['b', 'c'].entries())
      await (await services.client(name)).contribute(oneHot(n + 1, 64), { trainedOn: 0 });
    expect(countsOf(await services.reached(1), 3).slice(0, 4)).toEqual([1, 1, 1, 0]);
  });

  it('does not delay a server that stops, and keeps its offset', async () => {
    await services.createTask(LONG);
    await services.restartServer({ stopWithinMs: 100 });
    const upload = await holdUpload(services, 0);
    await send(services, upload, { body: upload.body.subarray(0, 60) });
    const headers = { 'content-length': String(FIRST_BYTES + 1) };
    const piece = upload.body.subarray(60, 61 + FIRST_BYTES);
    const hanging = sendRaw(services, upload, { body: piece, offset: 60, headers }, [piece.subarray(0, FIRST_BYTES)]);
    await until(() => staged().some(({ size }) => size > 60));
    await services.restartServer();
    await hanging;
    expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(60);
    expect((await send(services, upload, { body: upload.body.subarray(60), offset: 60 })).answer).toMatchObject({
      accepted: true,
    });
  });
});

describe('a vector', () => {
  it.each([
    ['of the field 2^32-5', { modulus: FIELD }],
    ['of a packed ring', { modulus: ring(21), level: 2 ** 8 }],
  ])('%s goes through both services, and its sum is right', async (_, policy) => {
    await services.createTask(policy);
    const clients = await Promise.all(['x', 'y', 'z'].map((name) => services.client(name, { pieceBytes: 100 })));
    const results = await Promise.all(clients.map((client, n) => client.contribute(oneHot(n, 64), { trainedOn: 0 })));
    expect(results.map(({ kind }) => kind)).toEqual(['accepted', 'accepted', 'accepted']);
    expect(countsOf(await services.reached(1), 3).slice(0, 4)).toEqual([1, 1, 1, 0]);
  });

  it('with an element that is not below q, or bits after the last one, is refused', async () => {
    for (const [policy, spoil] of [
      [{ modulus: FIELD }, (body: Uint8Array) => body.map((byte, n) => (n < 4 ? 0xff : byte))],
      [
        { modulus: ring(21), level: 2 ** 8 },
        (body: Uint8Array, vectorBytes: number) => body.map((byte, n) => (n === vectorBytes - 1 ? 0xff : byte)),
      ],
    ] as const) {
      await services.createTask(policy);
      const upload = await holdUpload(services, 0);
      const before = snapshot(services);
      const { header } = ShotUpload.decode(upload.header);
      const body = new Uint8Array(spoil(upload.body, shotLayout(services.policy, header.epochs).vectorBytes));
      expect(await send(services, upload, otherBody(services, upload, body))).toMatchObject({
        status: 422,
        code: 'body-mismatch',
      });
      expect(snapshot(services)).toEqual(before);
      expect((await send(services, upload)).answer).toMatchObject({ accepted: true });
    }
  });
});

// The last test here: the devices' clocks stay behind.
it('an upload whose epochs are over leaves nothing behind', async () => {
  await services.createTask();
  const upload = await holdUpload(services, 0);
  await send(services, upload, { body: upload.body.subarray(0, 100) });
  const here = () => snapshot(services).blobs.filter((name) => name.includes(upload.name)).length;
  expect(here()).toBe(1);
  services.elapse(EPOCHS_MS);
  await until(() => here() === 0);
  expect(await send(services, upload)).toMatchObject({ code: 'epoch-over' });
  expect(here()).toBe(0);
});
