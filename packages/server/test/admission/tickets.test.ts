/** Tickets to the millisecond: when a place, a seat and a number in the line end, and which of them count against a device. */
import type { Ctx, UserId } from '@basa/protocol';
import { millis } from '@basa/protocol';
import { expect, it } from 'vitest';
import type { PlaceWish } from '../../src/admission/places.ts';
import { buffersOf, bytes, task, userOf } from '../support/store-samples.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const [ann, bob, cem] = [1, 2, 3].map(userOf) as [UserId, UserId, UserId];

async function scene() {
  const now = { ms: 1_000 };
  const { store, tickets } = await volatileTickets(task, () => now.ms);
  const draw = async (id: number): Promise<Ctx> => {
    const made = buffersOf(id, { expiry: millis(10 ** 9) });
    await store.addBuffer({ ...made, task, drawnAt: id });
    return made.ctx;
  };
  const wish = (places: number, keptMs = 100): PlaceWish => ({
    version: 0,
    leaseMs: () => 100,
    decide: ({ underWay, ahead }) => (underWay + ahead < places ? 'place' : { keptMs }),
  });
  const seat = { bufferSize: 4, forMs: 100, lateMs: 0 };
  const enter = (user: UserId, place?: PlaceWish) =>
    tickets.enter(task, user, { ...seat, place, seatsAhead: 0, freshNonce: bytes(1, 16) });
  return { now, tickets, draw, wish, enter, seat, ask: (user: UserId, one: PlaceWish) => tickets.ask(task, user, one) };
}

it('a place has the time left that it had when it was given', async () => {
  const { now, ask, wish } = await scene();
  expect(await ask(ann, wish(1))).toMatchObject({ leftMs: 100 });
  now.ms += 99;
  expect(await ask(ann, wish(1))).toMatchObject({ leftMs: 1, isIdle: false });
  now.ms++;
  expect(await ask(ann, wish(1))).toMatchObject({ leftMs: 100, isIdle: true });
});

it('a number in the line is lost at the end of its time', async () => {
  const { now, ask, wish } = await scene();
  await ask(ann, wish(0, 100));
  await ask(bob, wish(0, 1_000));
  now.ms += 99;
  expect(await ask(ann, wish(1, 1))).toMatchObject({ leftMs: 100 });
  const late = await scene();
  await late.ask(ann, late.wish(0, 100));
  await late.ask(bob, late.wish(0, 1_000));
  late.now.ms += 100;
  expect(await late.ask(ann, late.wish(1))).toMatchObject({ leftMs: undefined }); // bob is before it
});

it('a device with an update that finds no place gets no seat and stays in the line', async () => {
  const { tickets, draw, ask, enter, wish } = await scene();
  await draw(1);
  await ask(ann, wish(1));
  expect(await enter(bob, wish(1))).toMatchObject({ seat: { kind: 'no-place' }, placed: { leftMs: undefined } });
  expect(await tickets.count(task)).toMatchObject({ underWay: 1, waiting: 1 });
});

it('a lapsed place of a device that came with its update counts as idle once it asks to train again, and is reported once', async () => {
  const { now, ask, enter, wish } = await scene();
  await ask(ann, wish(1));
  now.ms += 100;
  expect((await enter(ann, wish(0))).placed).toMatchObject({ lapsed: 1, isIdle: false });
  expect(await ask(bob, wish(0))).toMatchObject({ lapsed: 0 });
  expect(await ask(ann, wish(0))).toMatchObject({ isIdle: true });
});

it('a place with a seat is reported once it lapses', async () => {
  const { now, draw, ask, enter, wish } = await scene();
  await draw(1);
  await ask(ann, wish(1));
  expect(await enter(ann, wish(1))).toMatchObject({ seat: { kind: 'seated' } });
  now.ms += 100;
  expect(await ask(bob, wish(0))).toMatchObject({ lapsed: 1 });
});

it('a seat ends at its time, also if its device asks again in the meantime', async () => {
  const { now, tickets, draw, enter, seat } = await scene();
  const first = await draw(1);
  await enter(ann);
  now.ms += 50;
  await enter(ann);
  const has = (wanted: Partial<typeof seat>) => tickets.hasSeat(task, ann, first, { ...seat, ...wanted });
  now.ms += 49;
  expect(await has({ bufferSize: 0 })).toBe(true);
  now.ms++;
  expect(await has({ bufferSize: 0 })).toBe(false);
  expect(await enter(cem)).toMatchObject({ seat: { kind: 'seated', seats: 1 } });
});

it('a device keeps its seat in a newer buffer until it ends, and then gets one in the oldest', async () => {
  const { now, draw, enter, seat, tickets } = await scene();
  const [first, second] = [await draw(1), await draw(2)];
  await tickets.hasSeat(task, ann, second, seat);
  now.ms += 99;
  expect(await enter(ann)).toMatchObject({ seat: { ctx: second } });
  now.ms++;
  expect(await enter(ann)).toMatchObject({ seat: { ctx: first } });
});
