/** Every waiting upload gets its turn: uploads that nobody can decide about do not hold up those of others. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx, JoinTag, UserId } from '@basa/protocol';
import { ONE_SHOT_DEFAULTS, type TaskPolicy } from '@basa/protocol/policy';
import { MAX_INSPECTED, type ShotUpload, uploadNameOf, type Verdict } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { Inspector, KnownVoters, type ShotContext, showAgain } from '../../src/shots/inspector.ts';
import type { NamedAt, ShotStatus, StoredShot } from '../../src/store/shots.ts';
import { bytes, policy as sample, task } from '../support/store-samples.ts';

/** The inspector reads this many names at a time. */
const PAGE = 16 * MAX_INSPECTED;

function uploadOf(n: number): ShotUpload {
  const user = new Uint8Array([...bytes(2, 30), n >> 8, n & 255]);
  const certificate = { task, deviceKey: user, endorsements: [] };
  const named = { task, joinTag: user.slice(16) as JoinTag, user: user as UserId, model: bytes(5) };
  const hashes = { partsHash: bytes(8), signature: bytes(3, 64) };
  const header = { ...named, epochs: [{ authority: 0, statement: bytes(6) }], ...hashes };
  return { certificate, header, bodyBytes: 9, bodyCrc: 7 };
}

type Answer = (
  uploads: readonly number[],
) => Promise<readonly (Pick<Verdict, 'verdict'> & { readonly n: number; readonly word?: number })[]>;

/** No device is known to the authority, unless a test says otherwise. */
function scene({
  policy = {},
  answers = [async () => []],
}: {
  policy?: Partial<TaskPolicy>;
  answers?: readonly Answer[];
} = {}) {
  const shots: (StoredShot & { status: ShotStatus })[] = [];
  const [asked, troubles, events]: [number[][], unknown[], BasaEvent[]] = [[], [], []];
  const now = { ms: 1000 };
  const numberOf = ({ header: { user } }: ShotUpload): number => 256 * (user[30] as number) + (user[31] as number);
  const byName = (name: Ctx) => shots.find((shot) => toHex(shot.name) === toHex(name));
  const store = {
    namesOf: async (_: unknown, status: ShotStatus, after: NamedAt | undefined, limit: number) =>
      shots.filter((shot) => shot.status === status && shot.at > (after?.at ?? -1)).slice(0, limit),
    shotsNamed: async (_: unknown, names: readonly Ctx[]) => {
      const wanted = new Set(names.map(toHex));
      return shots.filter(({ name }) => wanted.has(toHex(name)));
    },
    decideShots: async (_: unknown, names: readonly Ctx[], { to, reason }: { to: ShotStatus; reason?: string }) => {
      for (const name of names) Object.assign(byName(name) ?? {}, { status: to, reason });
    },
  };
  const link = (answer: Answer) => ({
    inspect: async ({ uploads }: { readonly uploads: readonly ShotUpload[] }) => {
      asked.push(uploads.map(numberOf));
      const verdicts = await answer(uploads.map(numberOf));
      return {
        verdicts: verdicts.map(({ n, verdict, word = 0 }) => ({
          ...{ upload: (shots[n] as StoredShot).name, verdict },
          ...{ reason: 'part-invalid', guards: [0, 1].map((part) => ({ part, words: [0, 0, 0, word, 0, 0, 0, 0] })) },
        })),
      };
    },
  });
  const members = answers.map((answer, authority) => ({ authority, link: link(answer) }));
  const read = async function* (_: string, from: number, to: number) {
    yield new Uint8Array(to - from).fill(1, 0, 1);
  };
  const voters = new KnownVoters(() => now.ms);
  const context = {
    ...{ task, store, voters, clock: () => now.ms, onTrouble: (...trouble: unknown[]) => troubles.push(trouble) },
    onEvent: (event: BasaEvent) => events.push(event),
    policy: { ...sample, engine: 4, oneShot: ONE_SHOT_DEFAULTS, ...policy },
    blobs: { read, removeBelow: async () => undefined },
    epochs: { named: async () => new Map() },
    authorities: members,
  } as unknown as ShotContext;
  const inspector = new Inspector(context);
  /** Uploads come one after the other. */
  const give = (count: number): void => {
    for (let n = shots.length, end = n + count; n < end; n++) {
      const upload = uploadOf(n);
      const name = uploadNameOf(nodeSuite, upload.header);
      shots.push({
        name,
        upload,
        version: 0,
        status: 'waiting',
        reason: undefined,
        ctx: undefined,
        at: n,
        votes: { first: 1e9, last: 1e9 },
      });
    }
  };
  const look = () => inspector.look(undefined as never);
  return { context, voters, shots, asked, troubles, events, now, store, members, give, look };
}

const bad = async (uploads: readonly number[]) => uploads.map((n) => ({ n, verdict: 'bad' as const }));

describe('a waiting upload', () => {
  it('is inspected although thousands of older uploads stay undecided, and each of these is sent once', async () => {
    const { shots, asked, now, give, look } = scene({
      answers: [async (uploads) => (uploads.includes(PAGE) ? bad([PAGE]) : [])],
    });
    give(PAGE + 1);
    let looks = 1;
    while (await look()) looks++;
    expect(shots.at(-1)).toMatchObject({ status: 'refused', reason: 'part-invalid' });
    expect(asked.flat()).toEqual(Array.from(shots, (_, n) => n));
    expect(looks).toBe(17);
    while (await look());
    expect(asked.flat()).toHaveLength(PAGE + 1);
    now.ms += 500;
    await look();
    expect(asked.at(-1)).toEqual(Array.from({ length: MAX_INSPECTED }, (_, n) => n));
  });

  it('that is new comes before uploads that were inspected without a result, the oldest attempt first', async () => {
    const { asked, now, give, look } = scene();
    give(MAX_INSPECTED);
    await look();
    now.ms = 1001;
    give(MAX_INSPECTED);
    await look();
    now.ms = 1501;
    give(1);
    await look();
    expect(asked.splice(0).at(-1)).toEqual([
      ...Array.from({ length: MAX_INSPECTED - 1 }, (_, n) => n),
      2 * MAX_INSPECTED,
    ]);
    await look();
    expect(asked.flat()).toContain(MAX_INSPECTED - 1);
  });

  it('is due at once if it waits again after a batch without it', async () => {
    const { shots, asked, give, look } = scene();
    give(2);
    await look();
    const [first] = shots as [(typeof shots)[number]];
    first.status = 'batched';
    await look();
    first.status = 'waiting';
    await look();
    expect(asked).toEqual([[0, 1], [0]]);
  });

  it('is good, bad or undecided by itself', async () => {
    const { shots, give, look } = scene({
      answers: [async () => [{ n: 0, verdict: 'good' }, ...(await bad([1]))]],
    });
    give(3);
    await look();
    expect(shots.map(({ status }) => status)).toEqual(['good', 'refused', 'waiting']);
  });
});

describe('authorities', () => {
  it('are not asked if no upload waits, or about one that does not wait any more', async () => {
    const { asked, store, give, look } = scene();
    await look();
    expect(asked).toEqual([]);
    give(2);
    const { shotsNamed } = store;
    store.shotsNamed = async (...args) =>
      (await shotsNamed(...args)).map((shot, n) => (n === 0 ? { ...shot, status: 'good' } : shot));
    await look();
    expect(asked).toEqual([[1]]);
  });

  it('are not asked about an upload whose epochs are over', async () => {
    const { asked, shots, now, give, look } = scene();
    give(2);
    now.ms = 5000;
    Object.assign(shots[0] as StoredShot, { votes: { first: 5000, last: 5000 } });
    await look();
    expect(asked).toEqual([[1]]);
  });

  it('are shown all uploads of a batch again, as many at a time as a request may have', async () => {
    const { context, shots, asked, members, give } = scene({ answers: [bad] });
    give(MAX_INSPECTED + 1);
    const link = members[0]?.link as never;
    expect(await showAgain(context, link, shots)).toHaveLength(MAX_INSPECTED + 1);
    expect(asked.splice(0).map(({ length }) => length)).toEqual([MAX_INSPECTED, 1]);
    expect(await showAgain(context, link, shots.slice(1))).toHaveLength(MAX_INSPECTED);
    expect(asked).toHaveLength(1);
  });

  it('are reported once for all their wrong words in a request, by their seats', async () => {
    const said =
      (word: number): Answer =>
      async (uploads) =>
        uploads.map((n) => ({ n, verdict: 'good', word }));
    const policy = { authorities: council(4), threshold: 3, oneShot: { ...ONE_SHOT_DEFAULTS, tolerated: 1 } };
    const { events, give, look } = scene({ policy, answers: [said(0), said(0), said(7), said(0)] });
    give(3);
    await look();
    expect(events).toEqual([{ kind: 'authority-fault', task, authority: 2, subject: 'guard-words' }]);
  });

  it('that answer too late for a decision still say whether they would vote', async () => {
    const oneShot = { ...ONE_SHOT_DEFAULTS, tolerated: 1 };
    const good: Answer = async (uploads) => uploads.map((n) => ({ n, verdict: 'good' }));
    const late: Answer = async (uploads) => {
      await sleep(700);
      return good(uploads);
    };
    const { shots, voters, give, look } = scene({
      policy: { authorities: council(4), threshold: 3, oneShot },
      answers: [bad, late, good, good],
    });
    give(1);
    await look();
    const [{ name }] = shots as [StoredShot];
    expect(voters.of(name)).toEqual({ good: 0b1100, isDoubted: true });
    await sleep(400);
    expect(voters.of(name)).toMatchObject({ good: 0b1110 });
  });

  const council = (count: number) => Array.from({ length: count }, (_, n) => bytes(10 + n));

  it('that are silent hold up nothing', async () => {
    const oneShot = { ...ONE_SHOT_DEFAULTS, tolerated: 1 };
    const silent: Answer = () => new Promise(() => undefined);
    const { shots, troubles, give, look } = scene({
      policy: { authorities: council(4), threshold: 3, oneShot },
      answers: [bad, bad, bad, silent],
    });
    give(1);
    await look();
    expect([shots[0]?.status, troubles]).toEqual(['refused', []]);
  });
});
