/** Steps that wait are taken together: one transaction and one witness for all, and each sees those before it. */

import { ascii } from '@basa/masking';
import { type AttributeAuthority, type CertificateBody, type Head, taskIdOf } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { afterEach, expect, it, vi } from 'vitest';
import { type AuthorityStore, openStore } from '../src/store/store.ts';
import type { Witness } from '../src/store/witness.ts';
import { cleanUp, freshHome } from './homes.ts';
import { openedAuthority } from './opened.ts';
import { TestServer } from './parties.ts';

const PATIENCE = { timeout: 600_000, interval: 5 };
const opened: AuthorityStore[] = [];
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close();
  cleanUp();
});

/** An authority whose witness is held back until it is let go, and whose database can be full. */
async function heldAuthority() {
  const { dataFolder, keyFile } = freshHome();
  const real = openStore(dataFolder);
  opened.push(real);
  const held: (() => void)[] = [];
  const world = {
    transactions: 0,
    isFull: false,
    isHeld: false,
    witnessed: [] as number[],
    /** Waits until the witness is asked for, and lets it go. */
    async letGo(): Promise<void> {
      await vi.waitFor(() => expect(held.length).toBeGreaterThan(0), PATIENCE);
      held.shift()?.();
    },
    isAsked: () => vi.waitFor(() => expect(held.length).toBeGreaterThan(0), PATIENCE),
  };
  const store: AuthorityStore = {
    ...real,
    transaction(work) {
      world.transactions++;
      return real.transaction(async (tables) => {
        const result = await work(tables);
        if (world.isFull) throw new Error('the disk is full');
        return result;
      });
    },
  };
  const witness: Witness = {
    read: () => undefined,
    async write({ sequence }: Head) {
      if (world.isHeld)
        await new Promise<void>((resolve) => {
          held.push(resolve);
        });
      world.witnessed.push(sequence);
    },
  };
  const authority = await openedAuthority(store, witness, keyFile);
  Object.assign(world, { transactions: 0, witnessed: [] });
  return { world, authority };
}

const { policy } = new TestServer();
const named = (core: AttributeAuthority, name: number) => ({
  ...policy,
  authorities: [core.publicKey],
  name: ascii(`task ${name}`),
});
const create = (name: number) => (core: AttributeAuthority) => core.createTask(named(core, name));

it('in one transaction with one witness; nothing is true before it is witnessed', async () => {
  const { world, authority } = await heldAuthority();
  world.isHeld = true;
  const first = authority.step(create(0));
  await world.isAsked();
  const others = [1, 2, 3, 4].map((name) => authority.step(create(name)));
  expect([world.transactions, world.witnessed, authority.core.head().sequence]).toEqual([1, [], 0]);
  await world.letGo();
  await first;
  expect(authority.core.head().sequence).toBe(1);
  await world.letGo();
  const answers = await Promise.all(others);
  expect(answers).toEqual([1, 2, 3, 4].map((name) => ({ task: taskIdOf(nodeSuite, named(authority.core, name)) })));
  expect([world.transactions, world.witnessed, authority.core.head().sequence]).toEqual([2, [1, 5], 5]);
});

it('each step sees the decisions of earlier steps, and a step that throws fails without the others', async () => {
  const { world, authority } = await heldAuthority();
  const certificate: CertificateBody = {
    task: taskIdOf(nodeSuite, named(authority.core, 1)),
    deviceKey: nodeRandomBytes(32),
  };
  const steps = await Promise.allSettled([
    authority.step(create(1)),
    authority.step((core) => core.enrol(certificate)),
    authority.step(() => {
      throw new Error('a fault of ours');
    }),
    authority.step(create(1)),
    authority.step((core) => core.enrol({ ...certificate, task: taskIdOf(nodeSuite, named(authority.core, 2)) })),
  ]);
  expect(steps).toMatchObject([
    { value: { task: certificate.task } },
    { value: { deviceKey: certificate.deviceKey } },
    { reason: { message: 'a fault of ours' } },
    { value: { task: certificate.task } },
    { value: { kind: 'refused', reason: 'task-unknown' } },
  ]);
  expect([world.transactions, authority.core.head().sequence]).toEqual([1, 2]);
});

it('all steps are durable or no step is; a step that is not durable has no effect and can be repeated', async () => {
  const { world, authority } = await heldAuthority();
  world.isFull = true;
  const steps = await Promise.all([1, 2].map((name) => authority.step(create(name)).catch(String)));
  expect(steps).toEqual(['Error: the disk is full', 'Error: the disk is full']);
  expect([world.witnessed, authority.core.head().sequence]).toEqual([[], 0]);
  world.isFull = false;
  expect(await authority.step(create(2))).toEqual({ task: taskIdOf(nodeSuite, named(authority.core, 2)) });
  expect(world.witnessed).toEqual([1]);
});

it('many waiting steps are served in groups of limited size', async () => {
  const { world, authority } = await heldAuthority();
  const crowd = Array.from({ length: 150 }, (_, n) => authority.step(create(n)));
  expect((await Promise.all(crowd)).length).toBe(150);
  expect(world.transactions).toBe(3);
});
