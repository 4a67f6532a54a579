/** Tickets to the millisecond: when a place and a number in the line end. */
import type { UserId } from '@basa/protocol';
import { expect, it } from 'vitest';
import type { PlaceWish } from '../../src/admission/places.ts';
import { task, userOf } from '../support/store-samples.ts';
import { volatileTickets } from '../support/volatile-tickets.ts';

const [ann, bob] = [1, 2].map(userOf) as [UserId, UserId];

async function scene() {
  const now = { ms: 1_000 };
  const { tickets } = await volatileTickets(task, () => now.ms);
  const wish = (places: number, keptMs = 100): PlaceWish => ({
    version: 0,
    leaseMs: () => 100,
    decide: ({ underWay, ahead }) => (underWay + ahead < places ? 'place' : { keptMs }),
  });
  return { now, wish, ask: (user: UserId, one: PlaceWish) => tickets.ask(task, user, one) };
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
