/** A revoked device is refused by the server as well: when the server looks. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { nodeSuite } from '@basa/runtime/node';
import { askSigned, enrolledDevices } from '@basa/testkit/services/fleet.ts';
import { holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import {
  countsOf,
  oneHot,
  TestServices,
  type TestServicesOptions,
  until,
} from '@basa/testkit/services/test-services.ts';
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

/** The server's answer to a device that asks for a place. */
async function placeOf({ device, certificate }: Awaited<ReturnType<typeof enrolledDevices>>[number]): Promise<string> {
  const answer = await askSigned(services, device, 'server', SERVER_PATH.admissions(services.task), certificate);
  return answer.ok ? 'placed' : ((await answer.json()) as { type: string }).type.replace('urn:basa:problem:', '');
}

it('it gets no place once the server has looked, also after a restart without the authority', async () => {
  await open(30);
  const [device, other] = await enrolledDevices(services, 2);
  if (device === undefined || other === undefined) throw new Error('no devices');
  expect(await placeOf(device)).toBe('placed');
  await revoke(device.device.deviceKey);
  await until(async () => (await placeOf(device)) === 'revoked');
  expect(await placeOf(other)).toBe('placed');
  await services.restartServer({
    revocationsMs: NEVER,
    authorities: [{ url: 'http://127.0.0.1:9', publicKey: services.authority.publicKey }],
  });
  expect(await placeOf(device)).toBe('revoked');
});

it('its upload is refused, and so is one that was accepted before and waits', async () => {
  await open(30, { policy: { bufferSize: 4, minimum: 3 } });
  const early = await holdUpload(services, 0);
  expect((await send(services, early)).answer).toMatchObject({ accepted: true });
  const late = await holdUpload(services, 1);
  for (const { client } of [early, late]) await revoke(client.deviceKey);
  const [probe] = await enrolledDevices(services, 1);
  if (probe === undefined) throw new Error('no device');
  await revoke(probe.device.deviceKey);
  await until(async () => (await placeOf(probe)) === 'revoked'); // the last of them is known, so all are
  expect((await send(services, late)).code).toBe('revoked');
  expect((await send(services, late, { method: 'HEAD' })).status).toBe(403);
  expect(await services.fateIs(early.name, 'refused')).toMatchObject({ reason: 'revoked' });
});

it('its upload is refused by the authority, if the server never looks', async () => {
  await open(NEVER);
  const [gone, ...others] = await Promise.all(['gone', 'a', 'b', 'c'].map((name) => services.client(name)));
  if (gone === undefined) throw new Error('no device');
  await gone.model();
  await revoke(gone.deviceKey);
  const given = await gone.contribute(oneHot(0), { trainedOn: 0 });
  if (given.kind !== 'accepted') throw new Error(given.reason);
  expect(await services.fateIs(given.ctx, 'refused')).toMatchObject({ reason: 'revoked' });
  for (const [n, client] of others.entries()) await client.contribute(oneHot(n + 1), { trainedOn: 0 });
  expect(countsOf(await services.reached(1), 3)).toEqual([0, 1, 1, 1, 0, 0, 0, 0]);
});
