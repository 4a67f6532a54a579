/** The refusals of the authority, over real HTTP: they change nothing. */
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, encodePolicy } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { afterEach, describe, expect, it } from 'vitest';
import { ask, askAs, newDevice } from '../asking.ts';
import { AUDITOR, cleanUp, type NewHome, OPERATOR, start, time } from '../homes.ts';
import { type ShotScene, shotScene, shotStage } from '../one-shot/shot-world.ts';
import { TestServer } from '../parties.ts';

export function testRefusals(freshHome: NewHome): void {
  afterEach(cleanUp);

  describe('refusals', () => {
    it('is a problem document that names the reason', async () => {
      const authority = await start(await freshHome());
      const scene = await shotScene(authority, 2);
      const { server } = scene.world;
      const authorities = [authority.publicKey];
      const { device } = scene.world.enrolled[0] as ShotScene['world']['enrolled'][number];
      const path = AUTHORITY_PATH.enrolments(scene.world.task);
      const stranger = newDevice();
      const nowhere = new Uint8Array(32).fill(9);
      const cases: [string, Promise<{ code: string | undefined }>][] = [
        ['operator-token-missing', ask(authority, AUTHORITY_PATH.tasks, { body: encodePolicy(server.policy) })],
        ['role-missing', ask(authority, AUTHORITY_PATH.tasks, { token: 'auditor-token' })],
        ['malformed', ask(authority, AUTHORITY_PATH.tasks, { body: new Uint8Array(10), token: OPERATOR })],
        ['policy-invalid', new TestServer({ authorities, minimum: 1 }).createTask(authority)],
        ['policy-invalid', new TestServer({ authorities: [nodeRandomBytes(32)] }).createTask(authority)],
        ['task-unknown', ask(authority, AUTHORITY_PATH.policy(nowhere))],
        ['malformed', ask(authority, AUTHORITY_PATH.policy('abc'))],
        ['enrolment-token-invalid', scene.world.enrolment(stranger, authority)],
        [
          'role-missing',
          ask(authority, AUTHORITY_PATH.revocations, { body: { user: toHex(nowhere) }, token: AUDITOR }),
        ],
        ['unsigned', ask(authority, path, { body: {} })],
        ['clock-skew', askAs(device, authority, path, {}, { at: time.now - 400_000 })],
        ['operator-token-missing', ask(authority, AUTHORITY_PATH.tasks)],
        ['role-missing', ask(authority, AUTHORITY_PATH.tasks, { token: AUDITOR })],
      ];
      for (const [code, answer] of cases) expect((await answer).code).toBe(code);
    });

    it('a message at the address of another task than it names', async () => {
      const authority = await start(await freshHome());
      const { world, uploads, epochs } = await shotScene(authority, 1);
      const other = await shotStage([authority], 0, { dimension: 9, serverKey: world.policy.serverKey });
      const request = world.inspectRequest(
        uploads.map(({ shown }) => shown),
        epochs,
      );
      const path = AUTHORITY_PATH.inspections(other.task);
      const { code, json } = await world.asked(authority, path, request);
      expect([code, json()]).toEqual([
        'malformed',
        expect.objectContaining({ detail: expect.stringMatching(/of the path$/) }),
      ]);
    });

    it('an upload of a device that was revoked', async () => {
      const authority = await start(await freshHome());
      const { world, epochs, uploads } = await shotScene(authority, 2);
      const user = toHex((uploads[1] as (typeof uploads)[number]).shown.header.user);
      const revoked = await ask(authority, AUTHORITY_PATH.revocations, { body: { user }, token: OPERATOR });
      expect(revoked.json()).toEqual({ revoked: true });
      const { verdicts } = await world.inspected(authority, uploads, epochs);
      expect(verdicts.map(({ verdict, reason }) => [verdict, reason])).toEqual([
        ['good', undefined],
        ['bad', 'revoked'],
      ]);
    });

    it('a request that comes twice', async () => {
      const authority = await start(await freshHome());
      const { world } = await shotScene(authority, 1);
      const { device } = world.enrolled[0] as (typeof world.enrolled)[number];
      const path = AUTHORITY_PATH.enrolments(world.task);
      const asked = { audience: authority.publicKey, method: 'POST', target: path, body: Buffer.from('{}') };
      const headers = device.headers({ ...asked, at: time.now });
      expect((await ask(authority, path, { body: {}, headers })).status).toBe(200);
      expect((await ask(authority, path, { body: {}, headers })).code).toBe('replayed');
    });

    it('too many requests of one device', async () => {
      const authority = await start(await freshHome(), { keyLimit: { burst: 2, perSecond: 1 }, unsafePaperMode: true });
      const path = AUTHORITY_PATH.unsafePaperKeys(new Uint8Array(32));
      const devices = [newDevice(), newDevice()] as const;
      const statuses = [];
      for (const n of [0, 0, 0, 1] as const)
        statuses.push((await askAs(devices[n], authority, path, new Uint8Array(1))).status);
      expect(statuses).toEqual([404, 404, 429, 404]);
    });
  });
}
