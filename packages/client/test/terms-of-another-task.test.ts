/** A store that was shown terms of another task: their keys and addresses must not count in this one. */
import { setTimeout as sleep } from 'node:timers/promises';
import { lineCodec, millis, type Term } from '@basa/protocol';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { signedTerm } from '@basa/testkit/core/signed-terms.ts';
import { expect, it } from 'vitest';
import { connectTo, memoryStore } from './support/connect.ts';
import { startServices } from './support/setup.ts';

it('a store with terms of another task is refused, also if the device was never enrolled there', async () => {
  const [recovery, attacker] = [createNodeSigner(nodeRandomBytes(32)), createNodeSigner(nodeRandomBytes(32))];
  const succession = { waitMs: 50, recoveryHash: nodeSuite.sha256(recovery.publicKey) };
  const start = () => startServices({ policy: { succession } });
  const [first, second, attackers] = [await start(), await start(), await start()];
  const term = signedTerm(first.world.policy, {
    key: attacker,
    isLost: true,
    signers: [],
    recovery,
    change: { address: attackers.authorityUrl, effective: millis(1000) },
  });
  const show = (services: typeof first, terms: readonly Term[]): void => {
    const body = lineCodec.encode({ policy: services.world.policy, terms });
    services.mischief = { before: ({ path }) => (path.endsWith('/line') ? { status: 200, body } : undefined) };
  };
  show(first, [term]);
  show(second, []);
  const store = memoryStore();
  await expect(connectTo(first, { identity: store, token: 'no such token' })).rejects.toThrow(/token/);
  await sleep(2 * succession.waitMs); // the term of the first task is due
  await expect(connectTo(second, { identity: store })).rejects.toMatchObject({ reason: 'store-of-another-task' });
  expect(attackers.asked).toEqual([]);
});
