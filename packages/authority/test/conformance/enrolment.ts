/** Enrolment: tokens that are good once, lists, revocation. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, certificateCodec, isSigned, revocationsCodec } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, askAs, type Device, newDevice, register, userOf } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, stop, time } from '../homes.ts';
import { shotStage } from '../one-shot/shot-world.ts';

export function testEnrolment(freshHome: NewHome): void {
  afterEach(cleanUp);
  const DAY_MS = 86_400_000;

  async function withTokens(count: number, endsAt = time.now + DAY_MS) {
    const home = await freshHome();
    const authority = await start(home);
    const { server } = await shotStage([authority], 0);
    const tokens = await register(authority, server.task, { count, endsAt });
    const enrol = (device: Device, proof?: string, at = authority) =>
      askAs(device, at, AUTHORITY_PATH.enrolments(server.task), proof === undefined ? {} : { proof });
    return { home, authority, server, tokens, enrol };
  }

  describe('an enrolment token', () => {
    it('enrols one device; the same device gets its certificate again, with any token or without a token', async () => {
      const { tokens, enrol } = await withTokens(2);
      const [device, other] = [newDevice(), newDevice()];
      const first = await enrol(device, tokens[0]);
      expect(certificateCodec.decode(first.bytes)).toMatchObject({ deviceKey: device.deviceKey });
      expect((await enrol(other, tokens[0])).code).toBe('enrolment-token-invalid');
      for (const token of [tokens[0], tokens[1], undefined])
        expect((await enrol(device, token)).bytes).toEqual(first.bytes);
      expect((await enrol(other, tokens[1])).status).toBe(200); // it was not used up
    });

    it('is used up for good: also after a restart', async () => {
      const { home, authority, tokens, enrol } = await withTokens(1);
      await enrol(newDevice(), tokens[0]);
      await stop(authority);
      const again = await start(home);
      expect((await enrol(newDevice(), tokens[0], again)).code).toBe('enrolment-token-invalid');
    });

    it('expires, is valid only for its task, and cannot be guessed', async () => {
      const { authority, tokens, enrol } = await withTokens(1);
      const elsewhere = await shotStage([authority], 0, { dimension: 9 });
      const path = AUTHORITY_PATH.enrolments(elsewhere.server.task);
      expect((await askAs(newDevice(), authority, path, { proof: tokens[0] })).code).toBe('enrolment-token-invalid');
      expect((await enrol(newDevice(), 'ab'.repeat(32))).code).toBe('enrolment-token-invalid');
      time.now += DAY_MS;
      expect((await enrol(newDevice(), tokens[0])).code).toBe('enrolment-token-invalid');
      await authority.tick();
      time.now -= DAY_MS;
      expect((await enrol(newDevice(), tokens[0])).code).toBe('enrolment-token-invalid');
    });

    it('is not used up by its hash, and a hash that is registered again is not free again', async () => {
      const { authority, server, tokens, enrol } = await withTokens(1);
      const hashes = tokens.map((proof) => toHex(nodeSuite.sha256(Buffer.from(proof, 'hex'))));
      expect((await enrol(newDevice(), hashes[0])).code).toBe('enrolment-token-invalid');
      expect((await enrol(newDevice(), tokens[0])).status).toBe(200);
      const body = { hashes, endsAt: time.now + DAY_MS };
      const again = await ask(authority, AUTHORITY_PATH.tokens(server.task), { body, token: OPERATOR });
      expect(again.json()).toEqual({ registered: 1 });
      expect((await enrol(newDevice(), tokens[0])).code).toBe('enrolment-token-invalid');
    });

    it('is not registered with an end in the past, and not a million at a time', async () => {
      const { authority, server } = await withTokens(1);
      for (const body of [
        { hashes: ['ab'.repeat(32)], endsAt: time.now },
        { hashes: Array.from({ length: 1001 }, () => 'ab'.repeat(32)), endsAt: time.now + 1 },
        { hashes: [], endsAt: time.now + 1 },
        { endsAt: time.now + 1 },
        { hashes: ['ab'.repeat(31)], endsAt: time.now + 1 },
        { count: 1, endsAt: time.now + 1 }, // an authority makes no tokens
      ]) {
        const answer = await ask(authority, AUTHORITY_PATH.tokens(server.task), { body, token: OPERATOR });
        expect(answer.code).toBe('malformed');
      }
    });
  });

  it('operators can list the enrolled and the revoked devices, page by page', async () => {
    const { authority, server, tokens, enrol } = await withTokens(3);
    const devices = [newDevice(), newDevice(), newDevice()];
    for (const [n, device] of devices.entries()) await enrol(device, tokens[n]);
    const names = devices.map((device) => toHex(userOf(device))).sort();
    await ask(authority, AUTHORITY_PATH.revocations, { body: { user: names[1] ?? '' }, token: OPERATOR });
    const path = AUTHORITY_PATH.devices(server.task);
    const list = async (query: string) =>
      (await ask(authority, path + query, { method: 'GET', token: OPERATOR })).json();
    const first = (await list('?most=2')) as { devices: { user: string; revoked: boolean }[]; next: string };
    expect(first.devices.map(({ user, revoked }) => [user, revoked])).toEqual([
      [names[0], false],
      [names[1], true],
    ]);
    expect(first.next).toBe(names[2]);
    const rest = await list(`?from=${first.next}`);
    expect(rest).toEqual({ devices: [expect.objectContaining({ user: names[2], revoked: false })] });
    expect((await ask(authority, path, { method: 'GET' })).status).toBe(401);
  });

  it('anybody may read the signed list of revoked devices, which may be devices that it never enrolled', async () => {
    const { home, authority, tokens, enrol } = await withTokens(1);
    const device = newDevice();
    await enrol(device, tokens[0]);
    const [known, unknown] = [userOf(device), userOf(newDevice())];
    for (const user of [known, unknown, known]) {
      const body = { user: toHex(user) };
      expect((await ask(authority, AUTHORITY_PATH.revocations, { body, token: OPERATOR })).status).toBe(200);
    }
    await stop(authority);
    const told = revocationsCodec.decode((await ask(await start(home), AUTHORITY_PATH.revocations)).bytes);
    expect(told.users).toEqual([unknown, known]);
    expect(isSigned(nodeSuite, revocationsCodec, told, authority.publicKey)).toBe(true);
  });

  describe('a device', () => {
    it('on the allow-list needs no token', async () => {
      const { authority, server, enrol } = await withTokens(1);
      const device = newDevice();
      const allow = () =>
        ask(authority, AUTHORITY_PATH.allowList(server.task), {
          method: 'PUT',
          body: { deviceKeys: [toHex(device.deviceKey)] },
          token: OPERATOR,
        });
      expect((await allow()).json()).toEqual({ allowed: 1 });
      expect((await allow()).json()).toEqual({ allowed: 1 });
      expect((await enrol(device)).status).toBe(200);
    });

    it('on the allow-list of one task needs a token for another', async () => {
      const { authority, server, enrol } = await withTokens(1);
      const device = newDevice();
      const { server: other } = await shotStage([authority], 0, { dimension: 9 });
      const body = { deviceKeys: [toHex(device.deviceKey)] };
      await ask(authority, AUTHORITY_PATH.allowList(other.task), { method: 'PUT', body, token: OPERATOR });
      expect((await enrol(device)).code).toBe('enrolment-token-invalid');
      expect((await askAs(device, authority, AUTHORITY_PATH.enrolments(other.task), {})).status).toBe(200);
      expect((await askAs(newDevice(), authority, AUTHORITY_PATH.enrolments(other.task), {})).status).toBe(403);
      expect(server.task).not.toEqual(other.task);
    });

    it('may belong to two tasks, and has a certificate of each', async () => {
      const { authority, server, tokens, enrol } = await withTokens(1);
      const other = (await shotStage([authority], 0, { dimension: 9 })).server;
      const [proof] = await register(authority, other.task);
      const device = newDevice();
      const first = await enrol(device, tokens[0]);
      const second = await askAs(device, authority, AUTHORITY_PATH.enrolments(other.task), { proof });
      expect(certificateCodec.decode(second.bytes).task).toEqual(other.task);
      expect(certificateCodec.decode(first.bytes).task).toEqual(server.task);
      expect((await enrol(device)).bytes).toEqual(first.bytes);
    });

    it('that was revoked is refused immediately and permanently, also after a restart', async () => {
      const { home, authority, tokens, enrol } = await withTokens(2);
      const device = newDevice();
      await enrol(device, tokens[0]);
      const body = { user: toHex(userOf(device)) };
      await ask(authority, AUTHORITY_PATH.revocations, { body, token: OPERATOR });
      expect((await enrol(device, tokens[1])).code).toBe('revoked');
      await stop(authority);
      const again = await start(home);
      expect((await enrol(device, tokens[1], again)).code).toBe('revoked');
      expect((await enrol(newDevice(), tokens[1], again)).status).toBe(200); // the token was not used up
    });
  });
}
