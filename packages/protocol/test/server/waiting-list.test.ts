/** When a device that found no place should ask again, to the millisecond. */
import { describe, expect, it } from 'vitest';
import { WaitingList } from '../../src/server/waiting-list.ts';

/** The list after `count` devices were told to wait at this moment: the more there are, the longer each may be sent away. */
function withWaiting(list: WaitingList, count: number, now: number): WaitingList {
  for (let n = 0; n < count; n++) list.later(`u${n}`, now, 0.5);
  return list;
}

describe('a waiting list', () => {
  it('divides by the places that came free, the older ones counting less', () => {
    const list = new WaitingList();
    list.freed(3, 1_000);
    // 3/e places in 30 s (1 - 1/e): one in 10 s (e - 1).
    expect(withWaiting(list, 1_000, 31_000).later('u0', 31_000, 0.5)).toBe(17_183);
    expect(list.later('u1', 31_000, 0.5)).toBe(20_000); // the second in twice as long, and no longer than all take to ask
  });

  it('counts from whoever is first by now', () => {
    const list = new WaitingList();
    list.freed(3, 1_000);
    withWaiting(list, 1_000, 31_000).leave('u0');
    expect(list.later('u1', 31_000, 0.5)).toBe(17_183);
  });

  it('counts from the first place that came free, not from when none did', () => {
    const list = new WaitingList();
    list.freed(0, 0);
    list.freed(3, 1_000);
    expect(withWaiting(list, 1_000, 31_000).later('u0', 31_000, 0.5)).toBe(17_183);
  });

  it('sends nobody away for long where no place ever came free, however many wait', () => {
    expect(withWaiting(new WaitingList(), 1_000, 0).later('new', 0, 0.5)).toBe(1_000);
  });

  it('sends nobody away for long in the moment in which the first place comes free', () => {
    const list = new WaitingList();
    list.freed(3, 1_000);
    expect(list.later('a', 1_000, 0.5)).toBe(250);
  });

  it('adds the places of two moments', () => {
    const list = new WaitingList();
    list.freed(3, 1_000);
    list.freed(3, 1_000);
    expect(withWaiting(list, 1_000, 31_000).later('u0', 31_000, 0.5)).toBe(8_591);
  });

  it('sends nobody away for longer than a minute, and spreads by a quarter to either side', () => {
    const list = new WaitingList();
    list.freed(1, 0);
    withWaiting(list, 4_000, 60_000);
    expect(list.later('new', 60_000, 0.5)).toBe(60_000);
    expect(list.later('new', 60_000, 0)).toBe(45_000);
  });

  it('forgets whoever does not come in twice its time and a second, to the millisecond', () => {
    const list = new WaitingList();
    expect(list.later('gone', 0, 0.5)).toBe(1_000);
    expect(list.sizeAt(2_999)).toBe(1);
    expect(list.sizeAt(3_000)).toBe(0);
  });

  it('remembers a hundred thousand, and of those beyond nobody', () => {
    const list = withWaiting(new WaitingList(), 100_000, 0);
    expect(list.sizeAt(0)).toBe(100_000);
    list.later('one more', 0, 0.5);
    expect(list.sizeAt(0)).toBe(100_000);
  });
});
