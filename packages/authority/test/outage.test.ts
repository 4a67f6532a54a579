/** A database that is away: who waits for it waits once, and nothing is true that is not durable. */
import { DatabaseUnavailable } from '@basa/service';
import { afterEach, expect, it } from 'vitest';
import { type AuthorityStore, openStore } from '../src/store/store.ts';
import { CuttingWitness } from './cutting-witness.ts';
import { cleanUp, freshHome } from './homes.ts';
import { openedAuthority } from './opened.ts';
import { TestServer } from './parties.ts';

afterEach(cleanUp);

it('all waiting requests are refused when the time limit is over, and later requests are served', async () => {
  const { dataFolder, keyFile } = freshHome();
  const real = await openStore({ dataFolder }, {});
  let tries = 0;
  let giveUp: (() => void) | undefined;
  let isAway = false;
  const store: AuthorityStore = {
    ...real,
    transaction(work) {
      if (!isAway) return real.transaction(work);
      tries++;
      return new Promise((_, reject) => {
        giveUp = () => reject(new DatabaseUnavailable(new Error('no answer')));
      });
    },
  };
  const witness = new CuttingWitness();
  const authority = await openedAuthority(store, witness, keyFile);

  const { policy } = new TestServer({ authorities: [authority.core.publicKey] });
  const create = () => authority.step((core) => core.createTask(policy));
  isAway = true;
  const waiting = [create(), create(), authority.look((core) => core.head())].map((one) => one.catch(String));
  while (giveUp === undefined) await new Promise(setImmediate);
  isAway = false;
  giveUp();
  expect(await Promise.all(waiting)).toEqual(waiting.map(() => expect.stringContaining('cannot be reached')));
  expect([tries, authority.core.head().sequence]).toEqual([1, 0]);
  expect(await create()).toMatchObject({ task: expect.any(Uint8Array) });
  expect(witness.head?.sequence).toBe(1);
  expect(await authority.ask((core) => core.createTask(policy))).toMatchObject({ task: expect.any(Uint8Array) });
  await real.close();
});
