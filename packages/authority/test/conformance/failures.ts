/** Failed writes change nothing. */
import { AUTHORITY_PATH } from '@basa/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AuthorityTables } from '../../src/store/store.ts';
import { ask, askAs, newDevice, register } from '../asking.ts';
import { cleanUp, type NewHome, start } from '../homes.ts';
import { shotStage } from '../one-shot/shot-world.ts';
import { TestServer } from '../parties.ts';

export function testFailures(freshHome: NewHome): void {
  afterEach(async () => {
    vi.restoreAllMocks();
    await cleanUp();
  });

  describe('a disk that fails', () => {
    it('changes nothing: the request is refused, and served when there is space again', async () => {
      const authority = await start(await freshHome());
      const server = new TestServer({ authorities: [authority.publicKey] });
      const create = () => server.createTask(authority);
      const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
      vi.spyOn(AuthorityTables.prototype, 'addTask').mockImplementation(() => {
        throw full;
      });
      for (let n = 0; n < 2; n++) expect((await create()).code).toBe('storage-full');
      expect((await ask(authority, AUTHORITY_PATH.policy(server.task))).code).toBe('task-unknown');
      vi.restoreAllMocks();
      expect((await create()).status).toBe(200);
    });

    it('cannot use up a token without the enrolment', async () => {
      const authority = await start(await freshHome());
      const { server } = await shotStage([authority], 0);
      const [proof] = await register(authority, server.task);
      const enrol = () => askAs(newDevice(), authority, AUTHORITY_PATH.enrolments(server.task), { proof });
      const { useToken } = AuthorityTables.prototype;
      vi.spyOn(AuthorityTables.prototype, 'useToken').mockImplementation(async function (
        this: AuthorityTables,
        ...values
      ) {
        await useToken.apply(this, values);
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      });
      expect((await enrol()).code).toBe('storage-full');
      vi.restoreAllMocks();
      expect((await enrol()).status).toBe(200);
    });
  });
}
