/** Offers are kept only in memory, in a bounded number and for a bounded time. */
import { describe, expect, it } from 'vitest';
import { OpenOffers } from '../../src/authority/offers.ts';
import { type BufferPart, millis, type TaskId } from '../../src/index.ts';

const TASK = new Uint8Array(32).fill(1) as TaskId;
const part = (n: number): BufferPart => ({
  authority: 0,
  sealingKey: new Uint8Array(64),
  offer: Uint8Array.of(n >> 8, n & 255),
});
const found = (offers: OpenOffers, n: number, now = 0) => offers.find(TASK, [part(n)], millis(now));

describe('open offers', () => {
  it('are 4,096 at most: the next takes the place of the oldest, and of no other', () => {
    const offers = new OpenOffers();
    for (let n = 0; n < 4096; n++) offers.add(TASK, part(n), millis(0));
    expect(found(offers, 0)).toEqual(part(0));
    offers.add(TASK, part(4096), millis(0));
    expect(found(offers, 0)).toBeUndefined();
    expect(found(offers, 1)).toEqual(part(1));
    expect(found(offers, 4096)).toEqual(part(4096));
  });

  it('are good for ten minutes, for their task, until they are used', () => {
    const offers = new OpenOffers();
    offers.add(TASK, part(1), millis(0));
    expect(found(offers, 1, 599_999)).toEqual(part(1));
    expect(found(offers, 1, 600_000)).toBeUndefined();
    expect(offers.find(new Uint8Array(32) as TaskId, [part(1)], millis(0))).toBeUndefined();
    offers.use(undefined);
    expect(offers.find(TASK, [part(2), part(1)], millis(0))).toEqual(part(1));
    offers.use(part(1));
    expect(found(offers, 1)).toBeUndefined();
  });
});
