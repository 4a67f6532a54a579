/** Suspended and banned devices are sent away, for as long as their suspension lasts, and operators see and decide. */
import { toHex } from '@basa/masking';
import { NEW_STANDING, type Standing } from '@basa/protocol';
import { describe, expect, it } from 'vitest';
import { SuspicionWatch } from '../../src/admission/suspicion-watch.ts';
import type { Store } from '../../src/store/store.ts';
import type { TaskSuspicions } from '../../src/store/suspicions.ts';
import { task, userOf } from '../support/store-samples.ts';

/** Ten sums, the last one at time 1,000,000, one every 20 seconds. */
function scene(standings: readonly Partial<Standing>[], { paceMs = 20_000 }: { readonly paceMs?: number } = {}) {
  const now = { ms: 1_000_000 };
  const users = standings.map((_, n) => toHex(userOf(n)));
  const inTurn = standings.map((standing, n) => [users[n] as string, { ...NEW_STANDING, ...standing }] as const);
  const suspects = new Map([...inTurn.slice(2).reverse(), ...inTurn.slice(0, 2)]);
  const known: TaskSuspicions = { sums: 10, trust: { trusted: 9, mild: 9 }, lastAt: 1_000_000, paceMs, suspects };
  const changed: [string, Standing][] = [];
  const store: Partial<Store> = {
    suspicions: async () => known,
    wasSuspended: async (_, user) => suspects.get(toHex(user))?.suspensions !== 0,
    now: async () => now.ms,
    changeStanding: async (_, user, change) => {
      const standing = change(suspects.get(toHex(user)) ?? NEW_STANDING);
      suspects.set(toHex(user), standing);
      changed.push([toHex(user), standing]);
      return standing;
    },
  };
  const watch = new SuspicionWatch({ task, store: store as Store });
  /** Undefined if the device is let through. */
  const problem = async (n: number) => {
    const failed = await watch.check(userOf(n)).catch((error: unknown) => error);
    return failed as { readonly code?: string; readonly retryAfterMs?: number; readonly message: string } | undefined;
  };
  return { watch, now, users: users as [string, string, string], problem, changed };
}

const suspended = { suspicion: 0.9, spoilt: 5, suspensions: 1, suspendedUntil: 13 };

describe('a device', () => {
  it('that was never suspended is let through, also if it is a suspect', async () => {
    const { problem } = scene([{ suspicion: 0.4 }]);
    expect(await problem(0)).toBeUndefined();
  });

  it('that is banned is sent away', async () => {
    const { problem } = scene([{ suspensions: 1, isBanned: true }]);
    expect(JSON.stringify(await problem(0))).toContain('banned');
  });

  it('that is suspended is sent away for as many sums as are left, and comes back after about that time', async () => {
    const { problem } = scene([suspended]);
    expect(JSON.stringify(await problem(0))).toContain('for the next 3 sums of this task');
    expect(JSON.stringify(await problem(0))).toContain('60000');
  });

  it('whose suspension is over is let through', async () => {
    const { problem } = scene([{ ...suspended, suspendedUntil: 10 }, { suspensions: 1 }]);
    expect([await problem(0), await problem(1)]).toEqual([undefined, undefined]);
  });

  it('is not suspended for ever in a task without sums: four times the usual wait counts as a sum', async () => {
    const { problem, now } = scene([suspended]);
    now.ms += 3 * 80_000 - 1;
    expect(JSON.stringify(await problem(0))).toContain('for the next 1 sums');
    now.ms++;
    expect(await problem(0)).toBeUndefined();
    now.ms = 0; // a clock that was set back takes nothing away
    expect(JSON.stringify(await problem(0))).toContain('for the next 3 sums');
  });

  it.each([
    [20_000, 20_000],
    [10, 1_000],
    [0, 1_000],
    [10 ** 9, 600_000],
  ])('that finds no seat asks again after about one sum: %i ms between sums are %i ms', async (paceMs, askMs) => {
    expect(await scene([], { paceMs }).watch.askAgainMs()).toBe(askMs);
  });

  it.each([0, 1])('in a task with %i ms between its sums is suspended by the clock as well', async (paceMs) => {
    const { problem, now } = scene([suspended], { paceMs });
    now.ms += 11;
    expect(JSON.stringify(await problem(0))).toContain('for the next 1 sums');
  });
});

describe('an operator', () => {
  it('sees the most suspected first, with the state of each', async () => {
    const { watch, users } = scene([
      { suspicion: 0.1 },
      { suspicion: 0.1 },
      suspended,
      { ...suspended, isBanned: true },
      { suspicion: 0.05 },
    ]);
    const list = await watch.list();
    expect(list.map(({ state }) => state)).toEqual(['suspended', 'banned', 'suspect', 'suspect', 'clear']);
    expect(list[0]).toEqual({
      user: users[2],
      suspicion: 0.9,
      spoilt: 5,
      suspensions: 1,
      state: 'suspended',
      sumsLeft: 3,
    });
    expect(list.slice(2, 4).map(({ user }) => user)).toEqual(users.slice(0, 2));
    await watch.look();
    expect(watch.counts).toEqual({ suspects: 2, suspended: 1 });
  });

  it('clears a device or bans it', async () => {
    const { watch, users, changed } = scene([suspended, { suspicion: 0.2 }]);
    expect(await watch.decide(users[0], 'clear')).toMatchObject({ state: 'clear', suspensions: 1 });
    expect(watch.counts).toEqual({ suspects: 1, suspended: 0 });
    expect(await watch.decide(users[1], 'banned')).toMatchObject({ state: 'banned' });
    expect(changed.map(([user]) => user)).toEqual(users.slice(0, 2));
  });
});
