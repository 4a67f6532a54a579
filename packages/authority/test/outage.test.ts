/** A database that is away: who waits for it waits once, and nothing is true that is not durable. */
import { createMclGroup } from '@basa/abe';
import { millis } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { DatabaseUnavailable } from '@basa/service';
import { afterEach, expect, it } from 'vitest';
import { KeyEpochs } from '../src/keys/key-epochs.ts';
import { KeyThread } from '../src/keys/key-thread.ts';
import { ShotSecrets } from '../src/keys/shot-secrets.ts';
import { unlock } from '../src/keys/unlock.ts';
import { DurableAuthority } from '../src/steps/durable-authority.ts';
import { type AuthorityStore, openStore } from '../src/store/store.ts';
import { CuttingWitness } from './cutting-witness.ts';
import { cleanUp, freshHome } from './homes.ts';
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
  const randomBytes = nodeRandomBytes;
  const unlocked = await unlock(store, witness, { secret: { keyFile }, randomBytes });
  const epochs = new KeyEpochs({ ...unlocked, group: await createMclGroup(), randomBytes, thread: new KeyThread() });
  const shotSecrets = new ShotSecrets({ ...unlocked, randomBytes });
  const tools = { ...unlocked, store, epochs, shotSecrets, witness, randomBytes, onEvent() {} };
  const authority = await DurableAuthority.open(tools);
  await authority.start({ isNewNode: false });

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
  expect(await authority.ask((core) => core.tick(millis(0)))).toEqual({ nextAt: undefined });
  await real.close();
});
