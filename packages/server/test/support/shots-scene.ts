/** Uploads of a task in any state over real tables. A test says what authorities answer, and what is known about coming devices. */
import type { BasaEvent, Ctx, UserId } from '@basa/protocol';
import { ONE_SHOT_DEFAULTS, type OneShotPolicy, type TaskPolicy } from '@basa/protocol/policy';
import type { ShotUpload, Verdict } from '@basa/protocol/wire';
import { KnownVoters, type ShotContext } from '../../src/shots/inspector.ts';
import type { ShotStatus, StoredShot } from '../../src/store/shots.ts';
import { bytes, policy as sample, task, uploadOf } from './store-samples.ts';
import { volatileStore } from './volatile-store.ts';

export const FAR = 10 ** 9;

/** A name of an upload or of a device, by its number. The numbers are in the order of the names. */
export const named = (n: number): Uint8Array => new Uint8Array([n >> 8, n & 255, ...bytes(2, 30)]);
export const numberOf = (name: Uint8Array): number => 256 * (name[0] as number) + (name[1] as number);

export interface Given {
  readonly status?: ShotStatus;
  readonly version?: number;
  readonly votes?: { readonly first: number; readonly last: number };
  /** The authorities that it names. */
  readonly authorities?: readonly number[];
  /** The authorities that would vote for it, if it is good. */
  readonly sure?: readonly number[];
  /** Its device, if that has another number. */
  readonly user?: number;
}

/** What an authority says about these uploads. */
export type Answer = (
  uploads: readonly number[],
) => Promise<readonly (Pick<Verdict, 'verdict'> & { readonly n: number; readonly word?: number })[]>;

export interface SceneOptions {
  readonly policy?: Partial<TaskPolicy>;
  readonly oneShot?: Partial<OneShotPolicy>;
  readonly answers?: readonly Answer[];
}

/** K = 4 and at least 3. */
export async function shotsScene({ policy: more, oneShot, answers = [async () => []] }: SceneOptions = {}) {
  const now = { store: 1000, node: 1000 };
  const policy = { ...sample, engine: 4, maxStaleness: 1, ...more, oneShot: { ...ONE_SHOT_DEFAULTS, ...oneShot } };
  const { store } = await volatileStore(task, () => now.store, policy);
  const voters = new KnownVoters(() => now.node);
  const [asked, troubles, events, removed]: [number[][], unknown[], BasaEvent[], string[]] = [[], [], [], []];
  const link = (answer: Answer) => ({
    inspect: async ({ uploads }: { readonly uploads: readonly ShotUpload[] }) => {
      const numbers = uploads.map(({ header }) => numberOf(header.joinTag));
      asked.push(numbers);
      const verdicts = await answer(numbers);
      return {
        verdicts: verdicts.map(({ n, verdict, word = 0 }) => ({
          ...{ upload: named(n), verdict, reason: 'part-invalid' },
          guards: [0, 1].map((part) => ({ part, words: [0, 0, 0, word, 0, 0, 0, 0] })),
        })),
      };
    },
  });
  const context = {
    ...{ task, policy, store, voters, stallMs: 60_000, clock: () => now.node },
    onTrouble: (...trouble: unknown[]) => troubles.push(trouble),
    onEvent: (event: BasaEvent) => events.push(event),
    blobs: {
      removeBelow: async (...names: string[]) => void removed.push(...names),
      read: async function* (_: string, from: number, to: number) {
        yield new Uint8Array(to - from).fill(1, 0, 1);
      },
    },
    epochs: { named: async () => new Map() },
    authorities: answers.map((answer, authority) => ({ authority, link: link(answer) })),
  } as unknown as ShotContext;

  const decide = (n: number, from: ShotStatus, to: ShotStatus) =>
    store.decideShots(task, [named(n) as Ctx], { from, to });
  const shot = async (n: number): Promise<StoredShot> =>
    (await store.shotsNamed(task, [named(n) as Ctx]))[0] as StoredShot;
  /** These authorities have called it good, as the inspector notes that. */
  const inspected = async (n: number, sure: readonly number[] = [0, 1, 2, 3]) => {
    await decide(n, 'waiting', 'good');
    const hear = voters.inspect([await shot(n)]);
    const nothing = { reason: undefined, used: undefined, guards: [] };
    hear(sure.map((authority) => ({ upload: named(n) as Ctx, authority, verdict: 'good', ...nothing })));
  };
  const give = async (
    n: number,
    {
      status = 'good',
      version = 0,
      votes = { first: FAR, last: FAR },
      authorities = [0],
      sure,
      user: giver = n,
    }: Given = {},
  ) => {
    const [name, user] = [named(n) as Ctx, named(giver) as UserId];
    const epochs = authorities.map((authority) => ({ authority, statement: bytes(6) }));
    const joinTag = name.slice(0, 16) as Uint8Array as ShotUpload['header']['joinTag'];
    const upload = uploadOf(0, { joinTag, user, model: bytes(version), epochs });
    await store.beginShot(task, { name, upload, version, votes });
    if (status !== 'arriving') await store.acceptShot(task, name, user);
    if (status === 'good') await inspected(n, sure);
  };
  const fate = async (n: number) => {
    const { status, reason } = await shot(n);
    return reason === undefined ? status : `${status} ${reason}`;
  };
  return { context, now, store, voters, asked, troubles, events, removed, decide, shot, inspected, give, fate };
}
