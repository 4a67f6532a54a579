/** Every waiting upload gets its turn: uploads that nobody can decide about do not hold up those of others. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx, UserId } from '@basa/protocol';
import { MAX_INSPECTED } from '@basa/protocol/wire';
import { describe, expect, it } from 'vitest';
import { Inspector, KnownVoters, showAgain } from '../../src/shots/inspector.ts';
import { type Answer, FAR, named, type SceneOptions, shotsScene } from '../support/shots-scene.ts';
import { bytes, task } from '../support/store-samples.ts';

/** The inspector reads this many names at a time. */
const PAGE = 16 * MAX_INSPECTED;

/** No upload is known to the authority, unless a test says otherwise. */
async function scene(options: SceneOptions = {}) {
  const shots = await shotsScene(options);
  const inspector = new Inspector(shots.context);
  const look = () => inspector.look(undefined as never);
  let count = 0;
  /** As many more uploads wait. */
  const wait = async (more: number): Promise<void> => {
    for (const end = count + more; count < end; count++) await shots.give(count, { status: 'waiting' });
  };
  return { ...shots, look, wait };
}

const council = (count: number) => Array.from({ length: count }, (_, n) => bytes(10 + n));
/** Of four authorities three are needed, and one may lie. */
const FOUR: SceneOptions = { policy: { authorities: council(4), threshold: 3 }, oneShot: { tolerated: 1 } };
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

const bad = async (uploads: readonly number[]) => uploads.map((n) => ({ n, verdict: 'bad' as const }));

describe('a waiting upload', () => {
  it('is inspected although thousands of older uploads stay undecided, and each of these is sent once', async () => {
    const { fate, asked, now, wait, look } = await scene({
      answers: [async (uploads) => (uploads.includes(PAGE) ? bad([PAGE]) : [])],
    });
    await wait(PAGE + 1);
    let looks = 1;
    while (await look()) looks++;
    expect(await fate(PAGE)).toBe('refused part-invalid');
    expect(asked.flat()).toEqual(range(0, PAGE + 1));
    expect(looks).toBe(17);
    while (await look());
    expect(asked.flat()).toHaveLength(PAGE + 1);
    now.node += 500;
    await look();
    expect(asked.at(-1)).toEqual(range(0, MAX_INSPECTED));
  });

  it('that is new comes before uploads that were inspected without a result, the oldest attempt first', async () => {
    const { asked, now, wait, look } = await scene();
    await wait(MAX_INSPECTED);
    await look();
    now.node = 1001;
    await wait(MAX_INSPECTED);
    await look();
    now.node = 1501;
    await wait(1);
    await look();
    expect(asked.splice(0).at(-1)).toEqual([...range(0, MAX_INSPECTED - 1), 2 * MAX_INSPECTED]);
    await look();
    expect(asked.flat()).toContain(MAX_INSPECTED - 1);
  });

  it('is due at once if it waits again after a batch without it', async () => {
    const { asked, wait, look, decide } = await scene();
    await wait(2);
    await look();
    await decide(0, 'waiting', 'batched');
    await look();
    await decide(0, 'batched', 'waiting');
    await look();
    expect(asked).toEqual([[0, 1], [0]]);
  });

  it('is good, bad or undecided by itself', async () => {
    const { wait, look, fate } = await scene({
      answers: [async () => [{ n: 0, verdict: 'good' }, ...(await bad([1]))]],
    });
    await wait(3);
    await look();
    expect(await Promise.all([0, 1, 2].map(fate))).toEqual(['good', 'refused part-invalid', 'waiting']);
  });
});

describe('authorities', () => {
  it('are not asked if no upload waits, or about one that does not wait any more', async () => {
    const { asked, store, wait, look, decide } = await scene();
    await look();
    expect(asked).toEqual([]);
    await wait(2);
    const { namesOf } = store;
    store.namesOf = async (...read) => {
      const names = await namesOf(...read);
      await decide(0, 'waiting', 'good');
      return names;
    };
    await look();
    expect(asked).toEqual([[1]]);
  });

  it('are not asked about an upload whose epochs are over', async () => {
    const { asked, now, give, look } = await scene();
    for (const [n, last] of [5000, FAR].entries()) await give(n, { status: 'waiting', votes: { first: last, last } });
    now.node = 5000;
    await look();
    expect(asked).toEqual([[1]]);
  });

  it('are shown all uploads of a batch again, as many at a time as a request may have', async () => {
    const { context, asked, wait, shot } = await scene({ answers: [bad] });
    await wait(MAX_INSPECTED + 1);
    const shots = await Promise.all(range(0, MAX_INSPECTED + 1).map(shot));
    const link = context.authorities[0]?.link as never;
    expect(await showAgain(context, link, shots)).toHaveLength(MAX_INSPECTED + 1);
    expect(asked.splice(0).map(({ length }) => length)).toEqual([MAX_INSPECTED, 1]);
    expect(await showAgain(context, link, shots.slice(1))).toHaveLength(MAX_INSPECTED);
    expect(asked).toHaveLength(1);
  });

  it('are reported once for all their wrong words in a request, by their indices', async () => {
    const said =
      (word: number): Answer =>
      async (uploads) =>
        uploads.map((n) => ({ n, verdict: 'good', word }));
    const { events, wait, look } = await scene({ ...FOUR, answers: [said(0), said(0), said(7), said(0)] });
    await wait(3);
    await look();
    expect(events).toEqual([{ kind: 'authority-fault', task, authority: 2, subject: 'guard-words' }]);
  });

  it('that answer too late for a decision still say whether they would vote', async () => {
    const good: Answer = async (uploads) => uploads.map((n) => ({ n, verdict: 'good' }));
    const late: Answer = async (uploads) => {
      await sleep(700);
      return good(uploads);
    };
    const { voters, wait, look } = await scene({ ...FOUR, answers: [bad, late, good, good] });
    await wait(1);
    await look();
    const name = named(0) as Ctx;
    expect(voters.of(name)).toEqual({ good: 0b1100, isDoubted: true });
    await sleep(400);
    expect(voters.of(name)).toMatchObject({ good: 0b1110 });
  });

  it('that are silent hold up nothing', async () => {
    const silent: Answer = () => new Promise(() => undefined);
    const { fate, troubles, wait, look } = await scene({ ...FOUR, answers: [bad, bad, bad, silent] });
    await wait(1);
    await look();
    expect([await fate(0), troubles]).toEqual(['refused part-invalid', []]);
  });
});

/** Verdicts of authorities are kept for a minute, or until they may be wrong. */
function known() {
  const now = { ms: 0 };
  const voters = new KnownVoters(() => now.ms);
  const inspect = (n: number, user: number) => {
    const hear = voters.inspect([{ name: bytes(n) as Ctx, upload: { header: { user: bytes(user) } } as never }]);
    return (authority: number, of = n) =>
      hear([{ upload: bytes(of) as Ctx, authority, verdict: 'good', reason: undefined, used: undefined, guards: [] }]);
  };
  const goodOf = (...some: readonly number[]) => some.map((n) => voters.of(bytes(n) as Ctx)?.good);
  return { now, voters, inspect, goodOf };
}

it('voters are known as soon as they answer, until the upload is inspected again', () => {
  const { inspect, goodOf } = known();
  expect(goodOf(1)).toEqual([undefined]);
  const hear = inspect(1, 1);
  hear(0);
  hear(1, 2); // of another upload
  hear(2);
  expect(goodOf(1, 2)).toEqual([0b101, undefined]);
  const again = inspect(1, 1);
  again(1);
  hear(3);
  expect(goodOf(1)).toEqual([0b010]);
});

it('voters are forgotten after a minute, and if the clock is set back by a minute', () => {
  const { now, voters, inspect, goodOf } = known();
  inspect(1, 1);
  now.ms = 59_999;
  inspect(2, 2);
  voters.forgetOld();
  expect(goodOf(1, 2)).toEqual([0, 0]);
  now.ms = 60_000;
  voters.forgetOld();
  expect(goodOf(1, 2)).toEqual([undefined, 0]);
  now.ms = -1;
  voters.forgetOld();
  expect(goodOf(2)).toEqual([undefined]);
});

it('voters are forgotten with all uploads of a device', () => {
  const { voters, inspect, goodOf } = known();
  inspect(1, 7);
  inspect(2, 7);
  inspect(3, 8);
  voters.forgetUsers([bytes(7) as UserId]);
  expect(goodOf(1, 2, 3)).toEqual([undefined, undefined, 0]);
});
