/** A revoked device is refused by the server as well: with the next buffer that is drawn, or when the server looks. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { askSigned, enrolledDevices } from '@basa/testkit/services/fleet.ts';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { oneHot, TestServices, type TestServicesOptions, until } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices;
afterEach(() => services.close());
const NEVER = 1e9;

async function open(revocationsMs: number, more: TestServicesOptions = {}): Promise<void> {
  services = await TestServices.open({ ...more, server: { revocationsMs, ...more.server } });
}

function revoke(deviceKey: Uint8Array): Promise<unknown> {
  const user = toHex(nodeSuite.sha256(deviceKey));
  return services.operate(services.authority.url, 'POST', AUTHORITY_PATH.revocations, { user });
}

/** The server's answer to a device that asks for a seat. */
async function seatOf({ device, seat }: Awaited<ReturnType<typeof enrolledDevices>>[number]): Promise<string> {
  const answer = await askSigned(services, device, 'server', SERVER_PATH.seats(services.task), seat);
  return answer.ok ? 'seated' : ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '');
}

it('it gets no seat once the server has looked, also after a restart without the authority', async () => {
  await open(30);
  const [device, other] = await enrolledDevices(services, 2);
  if (device === undefined || other === undefined) throw new Error('no devices');
  expect(await seatOf(device)).toBe('seated');
  await revoke(device.device.deviceKey);
  await until(async () => (await seatOf(device)) === 'revoked');
  expect(await seatOf(other)).toBe('seated');
  await services.restartServer({
    revocationsMs: NEVER,
    authorities: [{ url: 'http://127.0.0.1:9', publicKey: services.authority.publicKey }],
  });
  expect(await seatOf(device)).toBe('revoked');
});

it('it gets no seat after the next buffer was drawn, if the server never looks', async () => {
  await open(NEVER, { policy: { bufferSize: 2, minimum: 2 } });
  const [device, first, second, third] = await enrolledDevices(services, 4);
  if (device === undefined || first === undefined || second === undefined || third === undefined)
    throw new Error('no devices');
  expect([await seatOf(device), await seatOf(first)]).toEqual(['seated', 'seated']);
  await revoke(device.device.deviceKey);
  expect(await seatOf(device)).toBe('seated'); // nothing was heard of it yet
  expect([await seatOf(second), await seatOf(third)]).toEqual(['seated', 'seated']); // in a new buffer
  expect(await seatOf(device)).toBe('revoked');
});

it('its upload is refused, its slot is dropped, and an upload that was accepted before stays', async () => {
  await open(30, { policy: { bufferSize: 3, minimum: 2 } });
  const early = await holdUpload(services, 0);
  expect((await send(services, early)).answer).toMatchObject({ accepted: true });
  const late = await holdUpload(services, 1);
  await (await services.client('honest')).contribute(oneHot(2), { trainedOn: 0 });
  for (const { client } of [early, late]) await revoke(client.deviceKey);
  const [probe] = await enrolledDevices(services, 1);
  if (probe === undefined) throw new Error('no device');
  await revoke(probe.device.deviceKey);
  await until(async () => (await seatOf(probe)) === 'revoked'); // the last of them is known, so all are
  expect((await send(services, late)).code).toBe('revoked');
  expect((await send(services, late, { method: 'HEAD' })).status).toBe(403);
  expect((await send(services, early)).answer).toMatchObject({ accepted: true });
  services.elapse(services.policy.uploadLeaseMs + 1);
  await services.reached(1);
  expect((await services.bufferState(early.ctx)).accepted).toEqual([0, 2]);
});

it('its deposit is refused, and its update is free', async () => {
  await open(30);
  const proxy = await services.proxy();
  const client = await services.client('revoked', { server: proxy.url });
  const [probe] = await enrolledDevices(services, 1);
  if (probe === undefined) throw new Error('no device');
  client.on('progress', ({ step }) => {
    // It has its seat by now; the first tries to deposit do not arrive before the server knows.
    if (step !== 'deposit' || proxy.onAsk !== undefined) return;
    let isKnown = false;
    proxy.onAsk = ({ path }) => (path.endsWith('/deposits') && !isKnown ? 'cut' : undefined);
    void (async () => {
      await revoke(client.deviceKey);
      await revoke(probe.device.deviceKey);
      await until(async () => (await seatOf(probe)) === 'revoked');
      isKnown = true;
    })();
  });
  const result = await client.contribute(oneHot(0), { trainedOn: 0 }).catch(() => client.resume());
  expect(result).toMatchObject({ kind: 'rejected', reason: 'revoked', update: 'free' });
  const deposits = proxy.passed.filter(({ asked }) => asked.path.endsWith('/deposits'));
  expect(deposits.map(({ answer }) => answer.status)).toEqual([403]);
});
