/** Devices that come with an update: buffers are drawn for them, suspects wait, and every seat that is given is told. */
import { type Certificate, type Ctx, NEW_STANDING, type Slot, userIdOf } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { heapGrowthOf } from '@basa/testkit/services/fleet.ts';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal } from '../../src/authority/authority-http.ts';
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

const versionOver = (version: number, newest: number) => ({
  reason: 'version-over',
  detail: `version ${version}; version ${newest} is the newest`,
});

describe('an update', () => {
  it('on a version that is not ours or is too old is refused, and uses up the place of its device', async () => {
    const { entrance, admission, refreshed, drawn } = await openEntrance({
      ...K,
      clock: () => 0,
      newest: 11,
      isOurs: false,
    });
    const device = certificate();
    await admission.ask(userIdOf(nodeSuite, device.deviceKey));
    await admission.look([]);
    expect(admission.view.underWay).toBe(1);
    expect(await entrance.take(requestOf(device, 0), 0)).toMatchObject(versionOver(0, 11));
    await admission.look([]);
    expect(admission.view.underWay).toBe(0);
    const other = { ...requestOf(device, 11), modelHash: new Uint8Array(32).fill(1) };
    expect(await entrance.take(other, 0)).toMatchObject(versionOver(11, 11));
    expect([refreshed, drawn]).toEqual([[], []]);
    expect(await entrance.take(requestOf(device, 12), 0)).toMatchObject(versionOver(12, 11)); // after a look at the store
    expect(refreshed).toEqual([11]);
  });

  it.each(['one', 'unsafeMixed'] as const)(
    'gets a buffer of its version; if versions are mixed, of the newest: %s',
    async (versions) => {
      const isMixed = versions === 'unsafeMixed';
      const drawnVersion = isMixed ? 11 : 1;
      const { entrance, wanted } = await openEntrance({ ...K, clock: () => 0, newest: 11, versions, drawnVersion });
      expect(await entrance.take(requestOf(certificate(), 1), 0)).toHaveProperty('slotKeys');
      expect(wanted).toEqual([drawnVersion]);
      if (isMixed) expect(await entrance.take(requestOf(certificate(), 99), 0)).toHaveProperty('slotKeys');
    },
  );

  it('finds no place if all are taken', async () => {
    const { entrance, drawn } = await openEntrance({ ...K, clock: () => 0, places: 1 });
    await entrance.take(requestOf(), 0);
    const full = { document: { detail: 'every place is taken' } };
    await expect(entrance.take(requestOf(), 0)).rejects.toMatchObject(full);
    expect(drawn).toHaveLength(1);
  });
});

describe('buffers', () => {
  it('are drawn ahead for the newest version, one at a time', async () => {
    const { entrance, drawn } = await openEntrance({ ...K, clock: () => 0, seatsAhead: 8 });
    await entrance.take(requestOf(), 0);
    await Promise.all([entrance.take(requestOf(), 0), entrance.take(requestOf(), 0)]);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(drawn).toHaveLength(2);
    const older = await openEntrance({ ...K, clock: () => 0, seatsAhead: 8, newest: 1 });
    await older.entrance.take(requestOf(), 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(older.drawn).toHaveLength(1);
    const mixed = { versions: 'unsafeMixed', newest: 1, drawnVersion: 1 } as const;
    const any = await openEntrance({ ...K, clock: () => 0, seatsAhead: 8, ...mixed });
    await any.entrance.take(requestOf(), 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(any.drawn).toHaveLength(2);
  });

  it.each([
    ['one', 0, 1, 1],
    ['unsafeMixed', 1, 0, 0],
    ['unsafeMixed', 1, 1, 1],
    ['unsafeMixed', 1, 2, 1],
  ] as const)(
    'of another version than the wanted one are useless: with %s, at version %i, of version %i',
    async (versions, newest, drawnVersion, isTaken) => {
      const { entrance } = await openEntrance({ ...K, clock: () => 0, versions, newest, drawnVersion });
      const taken = entrance.take(requestOf(), 0);
      if (isTaken && versions !== 'one') expect(await taken).toHaveProperty('slotKeys');
      else await expect(taken).rejects.toThrow('one of the services was rolled back');
    },
  );

  it.each([
    ['wrong-version', 'one of the services was rolled back'],
    ['server-unknown', 'the authority refused'],
    [undefined, 'the authority refused'],
  ] as const)('that authorities refuse with %s are explained: %s', async (code, words) => {
    const refuse = () => {
      throw new AuthorityRefusal(code, 'no');
    };
    const { entrance } = await openEntrance({ ...K, clock: () => 0, refuse });
    await expect(entrance.take(requestOf(), 0)).rejects.toThrow(words);
  });

  it('are not drawn if authorities fail, or without a logged model', async () => {
    const refuse = () => {
      throw new TypeError('wrong-version');
    };
    const failing = await openEntrance({ ...K, clock: () => 0, refuse });
    await expect(failing.entrance.take(requestOf(), 0)).rejects.toThrow(TypeError);
    for (const versions of ['one', 'unsafeMixed'] as const) {
      const { entrance, refreshed } = await openEntrance({ ...K, clock: () => 0, versions, newest: -1 });
      await expect(entrance.take(requestOf(), 0)).rejects.toThrow('no version of the model is logged yet');
      expect(refreshed).toHaveLength(versions === 'one' ? 2 : 1); // once for the version, and for the draw
    }
  });
});

it('a deposit is let through to a buffer that is unknown, over or full, or that has the device: the buffer itself answers', async () => {
  const { entrance, keeper } = await openEntrance({ ...K, clock: () => 0 });
  const [device, other] = [certificate(), certificate()];
  const slot = (one: Certificate) => ({ deviceKey: one.deviceKey });
  const find = async (status: string, slots: readonly object[]) => {
    keeper.fresh = async () => ({ status, slots, descriptor: { bufferSize: 4 } }) as never;
    return entrance.admits(device, new Uint8Array(32) as Ctx);
  };
  expect(await entrance.admits(device, new Uint8Array(32) as Ctx)).toBe(true);
  expect(await find('filling', [slot(other)])).toBe(false);
  expect(await find('frozen', [slot(other)])).toBe(true);
  expect(await find('filling', [slot(other), slot(device)])).toBe(true);
  expect(await find('filling', [slot(other), slot(other), slot(other)])).toBe(false);
  expect(await find('filling', [slot(other), slot(other), slot(other), slot(other)])).toBe(true);
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
  const waits = { document: { detail: 'this device waits for a buffer without other suspected devices' } };
  await expect(entrance.take(requestOf(dan), 0)).rejects.toMatchObject(waits);
  expect(await entrance.take(requestOf(ann), 0)).toHaveProperty('slotKeys');
  const { ctx } = lastSeat(events);
  await expect(entrance.take(requestOf(bob), 0)).rejects.toMatchObject(waits);
  const admits = (device: Certificate) => entrance.admits(device, ctx);
  expect([await admits(bob), await admits(ann)]).toEqual([false, true]);
  expect(drawn).toHaveLength(2);
  now = EXPIRY - 1001;
  await expect(entrance.take(requestOf(bob), 0)).rejects.toMatchObject(waits);
  now++; // no other device has come: it accepts any device, up to the minimum
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
