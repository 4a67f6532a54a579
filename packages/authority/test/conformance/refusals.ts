/** The refusals of the authority, over real HTTP: they change nothing. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, ENGINE, encodePolicy, revocationRequestCodec } from '@basa/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, askAs, askWithoutLength, newDevice, userOf } from '../asking.ts';
import { cleanUp, type NewHome, OPERATOR, start, time } from '../homes.ts';
import { seated, stage, TestServer } from '../parties.ts';

export function testRefusals(freshHome: NewHome): void {
  afterEach(cleanUp);

  describe('refusals', () => {
    it('is a problem document that names the reason, and changes nothing', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 2);
      const { server, enrolled } = world;
      const buffer = await seated(authority, world);
      const [first, second] = enrolled as [(typeof enrolled)[0], (typeof enrolled)[0]];
      const before = (await ask(authority, '/v1/health')).head;
      const stranger = newDevice();
      const other = new TestServer();
      const nowhere = new Uint8Array(32).fill(9);
      const forged = new TestServer(server.policy).drawRequest();
      const keyRequest = buffer.keyRequest(0);
      const keysPath = AUTHORITY_PATH.keys(buffer.ctx);
      const cases: [string, Promise<{ code: string | undefined }>][] = [
        ['operator-token-missing', ask(authority, AUTHORITY_PATH.tasks, { body: encodePolicy(other.policy) })],
        ['role-missing', ask(authority, AUTHORITY_PATH.tasks, { token: 'auditor-token' })],
        ['malformed', ask(authority, AUTHORITY_PATH.tasks, { body: new Uint8Array(10), token: OPERATOR })],
        ['policy-invalid', new TestServer({ minimum: 1 }).createTask(authority)],
        ['policy-invalid', new TestServer({ engine: ENGINE.unsafeTransparent }).createTask(authority)],
        ['task-unknown', ask(authority, AUTHORITY_PATH.policy(nowhere))],
        ['malformed', ask(authority, AUTHORITY_PATH.policy('abc'))],
        ['task-unknown', ask(authority, AUTHORITY_PATH.buffers, { body: other.drawRequest() })],
        ['server-unknown', ask(authority, AUTHORITY_PATH.buffers, { body: forged })],
        ['wrong-version', server.appendModel(authority, 5, buffer.ctx)],
        ['buffer-not-closed', server.appendModel(authority, 1, buffer.ctx)],
        ['model-not-logged', ask(authority, AUTHORITY_PATH.modelEntry(server.task, 7))],
        ['malformed', ask(authority, AUTHORITY_PATH.newestModel(server.task, 'short'))],
        ['enrolment-token-invalid', askAs(stranger, authority, AUTHORITY_PATH.enrolments(server.task), {})],
        [
          'not-enrolled',
          ask(authority, AUTHORITY_PATH.revocations, { body: { user: toHex(nowhere) }, token: OPERATOR }),
        ],
        ['unsigned', ask(authority, keysPath, { body: keyRequest })],
        ['not-yours', askAs(second.device, authority, keysPath, keyRequest)],
        ['clock-skew', askAs(first.device, authority, keysPath, keyRequest, { at: time.now - 400_000 })],
        ['buffer-unknown', askAs(first.device, authority, AUTHORITY_PATH.keys(nowhere), keyRequest)],
        ['body-too-large', askAs(first.device, authority, keysPath, new Uint8Array(4096))],
        ['malformed', askAs(first.device, authority, keysPath, keyRequest.slice(0, -1))],
        ['buffer-unknown', ask(authority, AUTHORITY_PATH.close(nowhere), { body: new Uint8Array(10) })],
        ['body-too-large', ask(authority, AUTHORITY_PATH.close(buffer.ctx), { body: new Uint8Array(10_000) })],
        ['unsigned', ask(authority, AUTHORITY_PATH.close(buffer.ctx), { body: new Uint8Array(10) })],
        ['server-unknown', askAs(first.device, authority, AUTHORITY_PATH.close(buffer.ctx), new Uint8Array(10))],
        [
          'unsigned',
          ask(authority, AUTHORITY_PATH.renewedModel(server.task), { method: 'PUT', body: new Uint8Array(10) }),
        ],
        ['too-few', buffer.close(authority, buffer.closeRequest([], []))],
        ['operator-token-missing', ask(authority, AUTHORITY_PATH.log)],
        ['role-missing', ask(authority, AUTHORITY_PATH.log, { token: OPERATOR })],
        ['not-found', ask(authority, AUTHORITY_PATH.unsafePaperSealingKey(server.task))],
        ['malformed', ask(authority, '/v1/health', { headers: { 'basa-head': 'zz' } })],
      ];
      for (const [code, answer] of cases) expect((await answer).code).toBe(code);
      const endless = await askWithoutLength(authority, AUTHORITY_PATH.close(buffer.ctx));
      expect(endless).toContain('content-length is missing');
      expect((await ask(authority, '/v1/health')).head).toBe(before);
    });

    it('a message at the address of another buffer or task than it names, which changes nothing', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 2);
      const { server } = await stage(authority, 0, { dimension: 9 });
      const [one, other] = [await seated(authority, world), await seated(authority, world, 0)];
      const { device } = world.enrolled[0] as (typeof world.enrolled)[0];
      const body = { task: world.server.task, after: 0 };
      const signature = world.server.signer.sign(revocationRequestCodec.statement(body));
      const asked = revocationRequestCodec.encode({ ...body, signature });
      const entry = (await ask(authority, AUTHORITY_PATH.modelEntry(world.server.task, 0), { method: 'GET' })).bytes;
      const before = (await ask(authority, '/v1/health')).head;
      const answers = await Promise.all([
        askAs(device, authority, AUTHORITY_PATH.keys(other.ctx), one.keyRequest(0)),
        other.close(authority, one.closeRequest([], [])),
        world.server.appendModel(authority, 1, one.ctx, undefined, server.task),
        ask(authority, AUTHORITY_PATH.taskRevocations(server.task), { body: asked }),
        ask(authority, AUTHORITY_PATH.adoptedModel(server.task), { method: 'PUT', body: entry }),
      ]);
      for (const { code, json } of answers)
        expect([code, json()]).toEqual([
          'malformed',
          expect.objectContaining({ detail: expect.stringMatching(/of the path$/) }),
        ]);
      expect((await ask(authority, '/v1/health')).head).toBe(before);
      expect((await ask(authority, AUTHORITY_PATH.taskRevocations(world.server.task), { body: asked })).status).toBe(
        200,
      );
    });

    it('a key for a slot that another request holds, and a key for a revoked device', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 3);
      const buffer = await seated(authority, world, 2);
      await buffer.askKey(authority, 0);
      // The server gives slot 0 away again, to a third device.
      const [, , third] = world.enrolled as [unknown, unknown, (typeof world.enrolled)[0]];
      const liar = await seated(authority, world, 0);
      Object.assign(liar, { ctx: buffer.ctx, descriptor: buffer.descriptor });
      liar.seat(third.device, third.certificate);
      expect((await liar.askKey(authority, 0)).code).toBe('slot-registered');

      const user = toHex(userOf((world.enrolled[1] as typeof third).device));
      expect((await ask(authority, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR })).json()).toEqual({
        revoked: true,
      });
      expect((await buffer.askKey(authority, 1)).code).toBe('revoked');
    });

    it('a request that comes twice', async () => {
      const authority = await start(await freshHome());
      const world = await stage(authority, 1);
      const buffer = await seated(authority, world);
      const path = AUTHORITY_PATH.keys(buffer.ctx);
      const body = buffer.keyRequest(0);
      const { device } = world.enrolled[0] as (typeof world.enrolled)[0];
      const headers = device.headers({
        audience: authority.publicKey,
        method: 'POST',
        target: path,
        body,
        at: time.now,
      });
      expect((await ask(authority, path, { body, headers })).status).toBe(200);
      expect((await ask(authority, path, { body, headers })).code).toBe('replayed');
    });

    it('too many key requests of one device', async () => {
      const authority = await start(await freshHome(), { keyLimit: { burst: 2, perSecond: 1 } });
      const world = await stage(authority, 2);
      const buffer = await seated(authority, world);
      const statuses = [];
      for (const slot of [0, 0, 0, 1]) statuses.push((await buffer.askKey(authority, slot)).status);
      expect(statuses).toEqual([200, 200, 429, 200]);
    });
  });
}
