/** One device that deposits again and again and never uploads: it opens two buffers, and then waits for a lease to end. */
import type { BasaClient } from '@basa/client/node';
import { honestFleet } from '@basa/testkit/services/fleet.ts';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterEach, expect, it } from 'vitest';

let services: TestServices | undefined;
afterEach(() => services?.close());

/** Goes as far as its slot, and leaves it for good. */
async function deposit(client: BasaClient, place: number) {
  const leaving = new AbortController();
  const stop = client.on('progress', ({ step }) => step === 'key' && leaving.abort());
  const { signal } = leaving;
  const result = await client.contribute(oneHot(place), { trainedOn: 0, signal }).catch(() => 'left' as const);
  stop();
  await client.discard();
  return result;
}

it('has two slots at most that it has not finished; honest devices go on beside it', async () => {
  services = await TestServices.open();
  const fleet = await honestFleet(services);
  const eve = await services.client('eve');
  expect([await deposit(eve, 0), await deposit(eve, 1)]).toEqual(['left', 'left']);
  for (let n = 2; n < 8; n++) {
    const refused = await deposit(eve, n);
    expect(refused).toMatchObject({ reason: 'too-many-slots', update: 'free' });
    const waitMs = typeof refused === 'object' && 'retryAfterMs' in refused ? (refused.retryAfterMs ?? 0) : 0;
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(services.policy.uploadLeaseMs + 1);
  }
  expect((await services.taskState()).buffers).toBe(2);
  for (const [n, client] of fleet.entries())
    expect(await client.contribute(oneHot(n + 4), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
  await services.restartServer();
  expect(await deposit(eve, 2)).toMatchObject({ reason: 'too-many-slots' });
  // When the leases are over the slots are dropped: she may go on.
  services.elapse(services.policy.uploadLeaseMs + 60_000);
  expect(await deposit(eve, 2)).toBe('left');
});

it('is free again once it has uploaded', async () => {
  services = await TestServices.open({ policy: { versions: 'unsafeMixed' } }); // several updates of one device on one version
  const client = await services.client('fast');
  await deposit(client, 0);
  for (let n = 1; n < 5; n++)
    expect(await client.contribute(oneHot(n), { trainedOn: 0 })).toMatchObject({ kind: 'accepted' });
});
