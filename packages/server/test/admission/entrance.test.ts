/** Devices that come with an update: buffers are drawn for them, suspects wait, and every seat that is given is told. */
import { type Certificate, type Ctx, NEW_STANDING, type Slot, userIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { heapGrowthOf } from '@basa/testkit/services/fleet.ts';
import { describe, expect, it } from 'vitest';
import { certificate, EXPIRY, openEntrance, requestOf } from '../support/entrance-scene.ts';
import { task } from '../support/store-samples.ts';

const K = { bufferSize: 4, minimum: 3, seatMs: EXPIRY };

/** The buffer of the seat that was told last. */
function lastSeat(events: readonly object[]) {
  return events.at(-1) as { readonly kind: string; readonly ctx: Ctx; readonly seats: number };
}

describe('a device with an update', () => {
  it('gets a seat in a new buffer, and the same seat if it asks again, with an event each time', async () => {
    const { entrance, events, drawn } = await openEntrance({ ...K, clock: () => 0 });
    const device = certificate();
    for (const _ of [1, 2]) expect(await entrance.take(requestOf(device), 0)).toHaveProperty('slotKeys');
    await entrance.take(requestOf(), 0);
    expect(drawn).toHaveLength(1);
    const { ctx } = lastSeat(events);
    expect(events).toEqual([1, 1, 2].map((seats) => ({ kind: 'seat-given', ctx, seats, deposits: 0 })));
  });

  it('without a certificate of this task is refused, with an event', async () => {
    const { entrance, events, drawn } = await openEntrance({ ...K, clock: () => 0 });
    const stranger = certificate({ task: new Uint8Array(32) as typeof task });
    expect(await entrance.take(requestOf(stranger), 0)).toMatchObject({ reason: 'certificate-invalid' });
    expect(events).toEqual([{ kind: 'refused', by: 'server', step: 'seat', reason: 'certificate-invalid' }]);
    expect(drawn).toEqual([]);
  });

  it('gets an explanation if three new buffers in a row cannot be used', async () => {
    const over = await openEntrance({ ...K, clock: () => EXPIRY });
    await expect(over.entrance.take(requestOf(), 0)).rejects.toThrow('compare the clocks of both services');
    const other = await openEntrance({ ...K, clock: () => 0, isOurs: false });
    await expect(other.entrance.take(requestOf(), 0)).rejects.toThrow('one of the services was rolled back');
    for (const { drawn } of [over, other]) expect(new Set(drawn.map(String)).size).toBe(3);
  });
});

it('a suspect gets no seat in a buffer with another suspect, with or without asking first, and no new buffer', async () => {
  let now = 0;
  const { entrance, store, events, drawn } = await openEntrance({ ...K, clock: () => now });
  const trusted = Array.from({ length: 4 }, () => certificate());
  const userOf = ({ deviceKey }: Certificate) => userIdOf(nodeSuite, deviceKey);
  // A sum of devices that are trusted: more of them than the minimum.
  await entrance.take(requestOf(), 0);
  const { ctx: first } = lastSeat(events);
  const verdict = { task, minimum: 3, users: trusted.map(userOf), outcome: 'clean' as const, named: [] };
  const facts = [{ kind: 'dropped' as const, slot: 0 as Slot }];
  await store.advance(first, 0, () => ({ change: { facts, status: 'included', verdict }, result: undefined }));
  const [ann, bob, cem, dan] = [certificate(), certificate(), certificate(), certificate()];
  for (const [device, suspicion] of [
    [ann, 0.2],
    [bob, 0.3],
    [dan, 0.7],
  ] as const)
    await store.changeStanding(task, userOf(device), () => ({ ...NEW_STANDING, suspicion }));
  await expect(entrance.take(requestOf(dan), 0)).rejects.toThrow('Enough devices are training already');
  expect(await entrance.take(requestOf(ann), 0)).toHaveProperty('slotKeys');
  const { ctx } = lastSeat(events);
  await expect(entrance.take(requestOf(bob), 0)).rejects.toThrow('Enough devices are training already');
  const admits = (device: Certificate) => entrance.admits(device, ctx);
  expect([await admits(bob), await admits(ann)]).toEqual([false, true]);
  expect(drawn).toHaveLength(2);
  now = EXPIRY - 1000; // no other device has come: it accepts any device, up to the minimum
  expect(await entrance.take(requestOf(bob), 0)).toHaveProperty('slotKeys');
  expect(await entrance.take(requestOf(dan), 0)).toHaveProperty('slotKeys');
  expect(await admits(cem)).toBe(true); // the last seat is for a device that is trusted
  expect(drawn).toHaveLength(2);
});

it('many idle devices cost one buffer for every few of them and little memory, and take no seat from others', async () => {
  const [idle, crowd, bufferSize, seatMs] = [600, 60, 3, 30_000];
  let now = 1000;
  const { entrance, drawn } = await openEntrance({ bufferSize, minimum: 2, seatMs, clock: () => now });
  const come = () => Promise.all(Array.from({ length: crowd }, () => entrance.take(requestOf(), 0)));
  const growth = await heapGrowthOf(async () => {
    for (let n = 0; n < idle; n += crowd) expect((await come()).every((answer) => 'slotKeys' in answer)).toBe(true);
  });
  expect(drawn).toHaveLength(idle / bufferSize);
  expect(growth).toBeLessThan(64);
  expect(await entrance.take(requestOf(), 0)).toHaveProperty('slotKeys');
  // When they lapse, their seats are given again: no new buffer is drawn for as many honest devices.
  now += seatMs;
  expect((await come()).every((answer) => 'slotKeys' in answer)).toBe(true);
  expect(drawn).toHaveLength(idle / bufferSize + 1);
});
