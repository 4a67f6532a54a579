/** The statements of authorities are requested often enough, kept as long as an upload may name them, and never those of a liar. */
import {
  type AuthorityStanding,
  EPOCHS_AT_ONCE,
  type Epoch,
  epochCodec,
  epochEnd,
  millis,
  type OneShotPolicy,
} from '@basa/protocol';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { Standings, type StandingsOptions } from '../../src/shots/standings.ts';
import { volatileStore } from '../support/volatile-store.ts';

const FRESH_MS = 20_000;

/** Four authorities, of which three are needed; statements of them may be changed, delayed or missing. */
async function scene() {
  const world = new ShotWorld({ shot: { freshMs: FRESH_MS } });
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const { store } = await volatileStore(task, () => world.now, policy);
  const answers: { change?: (told: AuthorityStanding) => AuthorityStanding; before?: () => Promise<unknown> } = {};
  const away = new Set<number>();
  const asked: number[] = [];
  const troubles: unknown[] = [];
  const standing = async (n: number): Promise<AuthorityStanding> => {
    asked.push(n);
    await answers.before?.();
    if (away.has(n)) throw new Error('away');
    const told = world.authority(n).standing() as AuthorityStanding;
    return answers.change?.(told) ?? told;
  };
  // The last one is asked first.
  const members = [...world.indices].reverse().map((n) => ({ authority: n, link: { standing: () => standing(n) } }));
  const options = {
    ...{ task, policy, store, ports: { suite }, authorities: { members }, clock: () => world.now },
    onTrouble: (_: string, error: unknown) => troubles.push(error),
  } as unknown as StandingsOptions;
  /** The epoch with other fields, signed by its own authority or by another one. */
  const signed = (told: AuthorityStanding, change: Partial<Epoch>, signer = told.authority): AuthorityStanding => {
    const body = { ...told.epoch, ...change };
    return {
      ...told,
      epoch: { ...body, signature: world.authority(signer).base.ports.signer.sign(epochCodec.statement(body)) },
    };
  };
  const statementOf = ({ epoch }: AuthorityStanding): Uint8Array => epochCodec.statementHash(suite, epoch);
  const oneShot = policy.oneShot as OneShotPolicy;
  return {
    world,
    task,
    store,
    oneShot,
    standings: new Standings(options),
    options,
    answers,
    away,
    asked,
    troubles,
    signed,
    statementOf,
  };
}

const indices = (standings: readonly AuthorityStanding[]): readonly number[] => standings.map((one) => one.authority);

describe('authorities are asked', () => {
  it('twenty times while a statement is fresh, at least every five seconds', async () => {
    const { world, standings, asked, options } = await scene();
    const looks = async (one: Standings): Promise<number> => {
      await one.look();
      return asked.splice(0).length;
    };
    expect(await looks(standings)).toBe(4);
    world.pass(999);
    expect(await looks(standings)).toBe(0);
    world.pass(1);
    expect(await looks(standings)).toBe(4);
    const seldom = new Standings({
      ...options,
      policy: { ...options.policy, oneShot: { ...options.policy.oneShot, freshMs: 300_000 } },
    });
    await looks(seldom);
    world.pass(4_999);
    expect(await looks(seldom)).toBe(0);
    world.pass(1);
    expect(await looks(seldom)).toBe(4);
  });

  it('again for a device if too few statements are recent or at its version, and not at once', async () => {
    const { world, standings, asked } = await scene();
    expect(indices(await standings.current(0))).toEqual([0, 1, 2, 3]);
    expect(asked.splice(0)).toHaveLength(4);
    world.pass(FRESH_MS / 4);
    await standings.current(0);
    expect(asked).toEqual([]);
    world.pass(1);
    await standings.current(0);
    expect(asked.splice(0)).toHaveLength(4);
    const began = performance.now();
    await standings.current(1); // no authority has this version yet
    expect(asked).toHaveLength(4);
    expect(performance.now() - began).toBeGreaterThan(200);
  });

  it('for missing statements only after a while, if the others are enough', async () => {
    const { world, standings, asked, away } = await scene();
    away.add(3);
    await standings.current(0);
    asked.length = 0;
    world.pass(249);
    expect(indices(await standings.current(0))).toEqual([0, 1, 2]);
    expect(asked).toEqual([]);
    world.pass(1);
    away.clear();
    expect(indices(await standings.current(0))).toEqual([0, 1, 2, 3]);
    expect(asked.splice(0)).toHaveLength(4);
    world.pass(250);
    await standings.current(0);
    expect(asked).toEqual([]);
  });

  it('once for several devices that come at the same time', async () => {
    const { standings, asked, answers } = await scene();
    let answer = (): void => undefined;
    const wait = new Promise<void>((resolve) => {
      answer = resolve;
    });
    answers.before = () => wait;
    const both = [standings.look(), standings.current(0)];
    answer();
    await Promise.all(both);
    expect(asked).toHaveLength(4);
  });
});

describe('a statement', () => {
  it('is handed out until it is old or its epoch closes', async () => {
    const { world, standings, away } = await scene();
    await standings.look();
    away.add(2);
    world.pass(FRESH_MS / 2);
    expect(indices(await standings.current(0))).toEqual([0, 1, 2, 3]);
    world.pass(1);
    expect(indices(await standings.current(0))).toEqual([0, 1, 3]);
    const closing = await scene();
    await closing.standings.look();
    const { closes } = (closing.world.authority(0).standing() as AuthorityStanding).epoch;
    closing.world.pass(closes - closing.world.now - 2);
    await closing.standings.look();
    for (const n of [0, 1, 2, 3]) closing.away.add(n);
    closing.world.pass(1);
    expect(await closing.standings.current(0)).toHaveLength(4);
    closing.world.pass(1);
    expect(await closing.standings.current(0)).toEqual([]);
  });

  it('that another node heard is found, and all are kept for an epoch longer than their secrets', async () => {
    const { world, task, store, oneShot, standings, options, statementOf } = await scene();
    await standings.look();
    const other = new Standings(options);
    const [first, second] = (await standings.current(0)) as [AuthorityStanding, AuthorityStanding];
    expect((await other.epochs([statementOf(first)])).size).toBe(4);
    const later = { ...second.epoch, number: 9 };
    const statement = epochCodec.statementHash(options.ports.suite, later);
    await store.addEpoch(statement, later, world.now + 10 ** 9);
    expect((await other.epochs([statementOf(first)])).size).toBe(4); // known, so the store is not asked
    expect((await other.epochs([statementOf(first), statement])).size).toBe(5);
    world.pass(epochEnd(oneShot, first.epoch) + oneShot.epochMs - world.now);
    await standings.forget();
    expect(await store.epochs(task)).toHaveLength(5);
    world.pass(1);
    await standings.forget();
    expect(await store.epochs(task)).toHaveLength(1);
  });

  it.each([
    ['of another authority', () => ({ authority: 1 })],
    ['with the epoch of another authority', (told: AuthorityStanding) => ({ epoch: { ...told.epoch, authority: 1 } })],
    ['with the beacon of another one', (told: AuthorityStanding) => ({ beacon: { ...told.beacon, authority: 1 } })],
  ])('%s is not heard', async (_, change) => {
    const { standings, answers, troubles, store, task } = await scene();
    answers.change = (told) => (told.authority === 0 ? { ...told, ...change(told) } : told);
    await standings.look();
    expect([(await store.epochs(task)).length, troubles.length]).toEqual([3, 1]);
  });

  it('for another task, or with another signature, is not heard', async () => {
    const { standings, answers, troubles, store, task, signed } = await scene();
    answers.change = (told) =>
      told.authority === 0
        ? signed(told, { task: new Uint8Array(32) as typeof task })
        : signed(told, {}, (told.authority + 1) % 4);
    await standings.look();
    expect([await store.epochs(task), troubles.length]).toEqual([[], 4]);
  });
});

it('an authority that opens epochs without end, or before their time, is not heard, and the others are', async () => {
  const { world, task, store, standings, answers, troubles, signed, options } = await scene();
  const { members } = options.authorities;
  const only = (n: number) =>
    new Standings({
      ...options,
      authorities: {
        members: members.filter(({ authority }) => authority === n),
      } as unknown as typeof options.authorities,
    });
  let [number, ahead] = [0, FRESH_MS + 1];
  answers.change = (told) => {
    const opens = millis(world.now + ahead);
    return signed(told, { number: ++number, opens, closes: millis(opens + 3_600_000) });
  };
  const look = async (one: Standings): Promise<void> => {
    world.pass(5_000);
    await one.look();
  };
  const liar = only(0);
  await look(liar);
  expect([await store.epochs(task), troubles.length]).toEqual([[], 1]);
  ahead = FRESH_MS;
  for (let n = 0; n < 2 * EPOCHS_AT_ONCE; n++) await look(liar);
  expect(await store.epochs(task)).toHaveLength(EPOCHS_AT_ONCE);
  expect(troubles).toHaveLength(1 + EPOCHS_AT_ONCE);
  delete answers.change;
  await look(standings);
  expect(await store.epochs(task)).toHaveLength(EPOCHS_AT_ONCE + 3);
});
