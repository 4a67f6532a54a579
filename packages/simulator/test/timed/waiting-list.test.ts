/** The line for a place: who is ahead of a user, and when one is the last again. */
import { MAX_AHEAD } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { WaitingList } from '../../src/timed/waiting-list.ts';

function lineOf(...users: string[]): WaitingList {
  const list = new WaitingList();
  for (const user of users) list.stay(user, 100, 0);
  return list;
}

describe('a waiting list', () => {
  it('has the longest waiting first, and everybody ahead of a user that is not in it', () => {
    const list = lineOf('a', 'b', 'c');
    expect(['a', 'b', 'c', 'new'].map((user) => list.aheadOf(user, 50))).toEqual([0, 1, 2, 3]);
  });

  it('does not move a user that comes back in time, however often it asks', () => {
    const list = lineOf('a', 'b');
    list.stay('a', 300, 99);
    list.stay('a', 400, 99);
    expect([list.aheadOf('a', 99), list.aheadOf('b', 99)]).toEqual([0, 1]);
    expect(list.sizeAt(99)).toBe(2);
  });

  it('puts a user that comes back too late at the end, to the millisecond', () => {
    const list = lineOf('a', 'b');
    list.stay('b', 300, 50);
    list.stay('a', 300, 100); // it was expected before 100
    expect([list.aheadOf('b', 100), list.aheadOf('a', 100)]).toEqual([0, 1]);
  });

  it('does not count users who did not come back, even in the middle of the line', () => {
    const list = lineOf('a', 'b', 'c');
    for (const user of ['a', 'c']) list.stay(user, 300, 50);
    expect([list.aheadOf('c', 99), list.aheadOf('c', 100)]).toEqual([2, 1]);
    expect(list.sizeAt(100)).toBe(2);
    expect(list.sizeAt(300)).toBe(0);
  });

  it('moves up after a user that got its place', () => {
    const list = lineOf('a', 'b');
    list.leave('a');
    expect([list.aheadOf('b', 0), list.sizeAt(0)]).toEqual([0, 1]);
  });

  it('is counted only as far as necessary', () => {
    const list = lineOf(...Array.from({ length: MAX_AHEAD + 10 }, (_, n) => `u${n}`));
    expect(list.aheadOf(`u${MAX_AHEAD - 1}`, 0)).toBe(MAX_AHEAD - 1);
    expect(list.aheadOf('new', 0)).toBe(MAX_AHEAD);
  });

  it('remembers a hundred thousand users and no more', () => {
    const list = lineOf(...Array.from({ length: 100_000 }, (_, n) => `u${n}`));
    list.stay('one more', 100, 0);
    expect(list.sizeAt(0)).toBe(100_000);
    list.stay('u0', 200, 0);
    expect(list.sizeAt(100)).toBe(1);
  });
});
