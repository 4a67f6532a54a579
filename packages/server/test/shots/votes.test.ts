/** What authorities contribute to a batch: who is asked again for a vote, which refusals count, and the sums of masks that enough agree on. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import type { BasaEvent, Ctx } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import { isHolder, taskParts } from '@basa/protocol/internal/wire/one-shot-policy.ts';
import type { Part } from '@basa/protocol/policy';
import {
  MaskSum,
  type ReleaseRequest,
  type ShotUpload,
  signStatement,
  type Verdict,
  type Vote,
  type WantedSum,
} from '@basa/protocol/wire';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import {
  askForVotes,
  BatchLost,
  MaskSums,
  refusedUploads,
  type VotedBatch,
  type Voting,
} from '../../src/shots/votes.ts';
import { council } from '../support/council.ts';
import { bytes } from '../support/store-samples.ts';

function voting(answers: readonly ((attempt: number) => Vote)[], shown: readonly Partial<Verdict>[] = []) {
  const { task, policy, sum, closing, shots, voteOf } = council();
  const asked: number[] = [];
  const again: number[][] = [];
  const authorities = answers.map((answer, authority) => ({
    authority,
    link: {
      voteForBatch: async () => {
        const attempt = asked.filter((index) => index === authority).length;
        asked.push(authority);
        return answer(attempt);
      },
      inspect: async ({ uploads }: { readonly uploads: readonly ShotUpload[] }) => {
        again.push(uploads.map(({ header }) => header.user[0] as number));
        return { verdicts: shown.map((verdict) => ({ upload: bytes(2), ...verdict })) };
      },
    },
  }));
  const read = async function* (_: string, from: number, to: number) {
    yield new Uint8Array(to - from);
  };
  const tools = { task, policy, authorities, blobs: { read }, epochs: { named: async () => new Map() } } as never;
  const voted = { sum: { ...sum, votes: [] }, closing, shots } as unknown as VotedBatch;
  const run = (votes: Vote['endorsements'] = []) =>
    askForVotes(tools, { ...voted, sum: { ...sum, votes } } as VotedBatch);
  return { run, voted, voteOf, asked, again };
}

const refuse =
  (code: ProblemCode, uploads: readonly number[] = []) =>
  (): never => {
    throw new AuthorityRefusal(code, 'no', uploads);
  };
const authoritiesOf = ({ votes }: Voting): readonly number[] => votes.map(({ authority }) => authority);
/** It does not answer. */
const unreachable = (): never => {
  throw new AuthorityUnreachable('no answer');
};

describe('authorities', () => {
  it('are asked once, if enough of them vote', async () => {
    const { run, voteOf, asked } = voting([0, 1, 2].map((n) => () => voteOf(n)).concat(refuse('too-few')));
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    expect([...asked].sort()).toEqual([0, 1, 2, 3]);
  });

  it('that voted before are not asked again', async () => {
    const { run, voteOf, asked } = voting([0, 1, 2, 3].map((n) => () => voteOf(n)));
    const known = [0, 3].flatMap((n) => voteOf(n).endorsements);
    expect(authoritiesOf(await run(known))).toEqual([0, 1, 2, 3]);
    expect([...asked].sort()).toEqual([1, 2]);
  });

  it('that vote for something else, or do not vote, are not counted', async () => {
    const { run, voteOf } = voting([
      () => voteOf(0, { ctx: bytes(9) as Ctx }),
      () => voteOf(1),
      unreachable,
      unreachable,
    ]);
    const { votes, refusals } = await run();
    expect([votes.map(({ authority }) => authority), refusals]).toEqual([[1], []]);
  });

  it('that are silent hold up nothing once enough voted', async () => {
    const { run, voteOf } = voting([
      ...[0, 1, 2].map((n) => () => voteOf(n)),
      () => new Promise(() => undefined) as never,
    ]);
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    const more = voting([() => new Promise(() => undefined) as never, ...[1, 2, 3].map((n) => () => more.voteOf(n))]);
    expect(authoritiesOf(await more.run(more.voteOf(1).endorsements))).toEqual([1, 2, 3]);
  });
});

it.each([
  [
    [0, 'slow', 'slow', 'none'],
    [0, 1, 2],
  ],
  [
    [0, 'none', 'none', 'slow'],
    [0, 3],
  ],
  [
    ['other batch', 1, 2, 'slow'],
    [1, 2, 3],
  ],
] as const)('slow votes are awaited until enough authorities voted: %j', async (kinds, voters) => {
  const answers = kinds.map((kind, n) => (): Vote => {
    if (kind === 'none') return unreachable();
    const vote = voteOf(n, kind === 'other batch' ? { ctx: bytes(9) as Ctx } : {});
    return kind === 'slow' ? (sleep(700, vote) as never) : vote;
  });
  const { run, voteOf } = voting(answers);
  expect(authoritiesOf(await run())).toEqual(voters);
});

describe('an authority that forgot uploads', () => {
  const once = (uploads: readonly number[], vote: () => Vote) => (attempt: number) => {
    if (attempt === 0) throw new AuthorityRefusal('not-inspected', 'no', uploads);
    return vote();
  };

  it.each([
    [[1], [2]],
    [[], [1, 2, 3]],
    [[9], [1, 2, 3]],
  ])('at positions %j is shown them again, and then votes', async (uploads, names) => {
    const { run, voteOf, again } = voting([once(uploads, () => voteOf(0)), unreachable, unreachable, unreachable]);
    expect(authoritiesOf(await run())).toEqual([0]);
    expect(again).toEqual([names]);
  });

  it('and forgets them again does not count against them, and another fault neither', async () => {
    const { run, again } = voting([
      refuse('not-inspected', [1]),
      () => {
        throw new AuthorityUnreachable('not-inspected');
      },
      unreachable,
      unreachable,
    ]);
    expect((await run()).refusals).toEqual([]);
    expect(again).toEqual([[2]]);
  });

  it('and does not find them good any more refuses them, with the first of its reasons', async () => {
    const bad = { verdict: 'bad', reason: 'part-invalid' } as const;
    const late = { verdict: 'abstain', reason: 'epoch-over' } as const;
    const { run } = voting(
      [refuse('not-inspected'), unreachable, unreachable, unreachable],
      [{ verdict: 'good' }, bad, { ...late, upload: bytes(1) as Ctx }, { ...bad, upload: bytes(3) as Ctx }],
    );
    expect((await run()).refusals).toMatchObject([{ code: 'part-invalid', uploads: [1, 2] }]);
  });
});

it('a refusal counts if more authorities tell it than may lie', () => {
  const { voted } = voting([]);
  const of = (refusals: Voting['refusals']): Voting => ({ votes: [], refusals });
  const late = { code: 'epoch-over', uploads: [1, 7] } as const;
  expect(refusedUploads(of([late]), voted)).toEqual([]);
  expect(refusedUploads(of([late, late]), voted)).toEqual([{ name: bytes(2), code: 'epoch-over' }]);
});

type Take = {
  answer(answer: { readonly sums: readonly MaskSum[] }): Promise<number>;
  piece(n: number, bytes: Uint8Array): Promise<void>;
};
/** `sums`: changes the signed sums. `vector`: the sum of a part, honest by default. `sent`: the bytes that are sent as that sum. */
interface Behaviour {
  readonly fails?: Error;
  vector?(part: Part): Uint8Array;
  sent?(part: Part): Uint8Array;
  sums?(sums: readonly MaskSum[]): readonly MaskSum[];
}

const honest = (part: Part): Uint8Array => bytes(part);

/** Every part has three holders, and two must agree on its sum. */
function summing(behaviours: readonly (Behaviour | undefined)[], isAddressed: readonly boolean[] = []) {
  const { task, policy, suite, ctx, sum, closing, signerOf } = council();
  const asked: [number, readonly WantedSum[], number][] = [];
  const blobs = new Map<string, Uint8Array>();
  const closed = { closed: 0, discarded: 0 };
  const events: BasaEvent[] = [];
  const release =
    (authority: number, behaviour: Behaviour) =>
    async ({ wanted }: Pick<ReleaseRequest, 'wanted'>, take: Take, { extraMs }: { readonly extraMs: number }) => {
      asked.push([authority, wanted, extraMs]);
      if (behaviour.fails !== undefined) throw behaviour.fails;
      const { vector = honest, sent = vector, sums = (all) => all } = behaviour;
      const signed = wanted.map(({ part }) =>
        signStatement(MaskSum, signerOf(authority), { task, ctx, part, hash: suite.sha256(vector(part)) }),
      );
      await take.answer({ sums: sums(signed) });
      for (const [n, { part }] of wanted.filter((one) => one.vector).entries()) {
        await take.piece(n, sent(part).subarray(0, 7));
        await take.piece(n, sent(part).subarray(7));
      }
    };
  const authorities = [0, 1, 2, 3]
    .filter((authority) => isAddressed[authority] !== false)
    .map((authority) => ({ authority, link: { release: release(authority, behaviours[authority] ?? {}) } }));
  const stage = async (key: string) => {
    let staged = new Uint8Array();
    return {
      append: async (more: Uint8Array) => {
        staged = new Uint8Array([...staged, ...more]);
      },
      commit: async () => void blobs.set(key, staged),
      close: async () => void closed.closed++,
      discard: async () => void closed.discarded++,
    };
  };
  const context = { blobs: { stage }, authorities, onEvent: (event: BasaEvent) => events.push(event) } as never;
  // The first byte of the name decides which holder is asked first.
  const voted = { sum: { ...sum, ctx: new Uint8Array(32) }, closing } as unknown as VotedBatch;
  const sums = new MaskSums(context, voted, {} as never);
  const parts = taskParts(policy);
  const collect = () => sums.collect([]);
  /** The sums that come out, which must be the honest ones. */
  const collected = async (): Promise<readonly (string | undefined)[]> =>
    (await collect()).map((key) => (blobs.has(key) ? toHex(blobs.get(key) as Uint8Array) : undefined));
  const expected = parts.map((part) => toHex(honest(part)));
  return { policy, asked, blobs, closed, events, parts, collect, collected, expected };
}

const silent = { fails: new AuthorityUnreachable('silent') };
const gone = { fails: new AuthorityRefusal('epoch-over', 'gone') };
const liar = { vector: (part: Part) => bytes(100 + part) };

describe('the sums of a batch', () => {
  it('are asked of as many holders as must agree, the vector of one of them, within a time that grows with the work', async () => {
    const { collected, expected, asked, closed, policy } = summing([]);
    expect(await collected()).toEqual(expected);
    const wanted = asked.flatMap(([, all]) => all);
    expect([wanted.length, wanted.filter(({ vector }) => vector).length]).toEqual([8, 4]);
    expect(asked.every(([authority, all]) => all.every(({ part }) => isHolder(part, authority)))).toBe(true);
    for (const [, all, extraMs] of asked)
      expect(extraMs).toBeCloseTo(3 * all.length * (1 + 4e-6 * policy.dimension), 9);
    expect(closed).toEqual({ closed: 4, discarded: 0 });
  });

  it.each([0, 1, 2, 3])(
    'are complete if authority %i is silent, has no address, or lies, and no sum is asked for twice',
    async (index) => {
      const withOne = (behaviour: Behaviour) => [0, 1, 2, 3].map((n) => (n === index ? behaviour : undefined));
      const scenes = [
        summing(withOne(silent)),
        summing(
          [],
          [0, 1, 2, 3].map((n) => n !== index),
        ),
        summing(withOne(liar)),
        summing(withOne({ sent: () => bytes(200) })),
        summing(withOne({ sent: () => new Uint8Array() })),
        summing(withOne({ sums: (all) => all.slice(1) })),
        summing(withOne({ sums: (all) => [...all].reverse() })),
        summing(withOne({ sums: (all) => all.map((sum) => ({ ...sum, signature: bytes(1, 64) })) })),
        summing(withOne({ sums: (all) => all.map((sum, n) => (n > 0 ? { ...sum, signature: bytes(1, 64) } : sum)) })),
        summing(withOne({ sums: (all) => [...all, ...all] })),
      ];
      for (const [n, { collected, expected, asked }] of scenes.entries()) {
        expect(await collected()).toEqual(expected);
        const others = asked.filter(([authority]) => authority !== index);
        const names = others.flatMap(([authority, all]) => all.map((one) => `${authority} ${one.part} ${one.vector}`));
        expect(new Set(names).size).toBe(names.length);
        // It is left out afterwards; a liar once the others agree.
        expect(asked.length - others.length).toBeLessThanOrEqual(n === 2 ? 2 : 1);
        expect(asked.every(([, all]) => all.length > 0)).toBe(true);
      }
    },
  );

  it('that differ from those of enough others are reported once, with the seat of their authority', async () => {
    for (const index of [0, 1, 2, 3]) {
      const { collect, events, parts } = summing([0, 1, 2, 3].map((n) => (n === index ? liar : undefined)));
      await collect();
      expect(events).toMatchObject([{ kind: 'authority-fault', authority: index, subject: 'mask-sum' }]);
      expect(parts.length).toBeGreaterThan(1);
    }
    for (const behaviours of [[], [silent], [{ sent: () => bytes(200) }]]) {
      const { collect, events } = summing(behaviours);
      await collect();
      expect(events).toEqual([]);
    }
  });

  it('that a liar sent with bytes that it did not sign are discarded', async () => {
    const { collect, blobs, closed, expected } = summing([{ sent: () => bytes(200) }]);
    const keys = await collect();
    expect(keys.map((key) => toHex(blobs.get(key) as Uint8Array))).toEqual(expected);
    expect(closed.discarded).toBeGreaterThan(0);
  });

  it('are lost if too few authorities have not given up, and otherwise wait for silent ones', async () => {
    await expect(summing([gone, gone]).collect()).rejects.toThrow(BatchLost);
    await expect(summing([silent, silent]).collect()).rejects.toThrow('too few authorities sum the masks of a batch');
    await expect(summing([gone, silent]).collect()).rejects.toThrow('too few authorities sum the masks of a batch');
    await expect(summing([{ fails: new AuthorityRefusal('too-few-votes', 'later') }, gone]).collect()).rejects.toThrow(
      AuthorityUnreachable,
    );
  });

  it('are never those of a single authority', async () => {
    const lies = [1, 2, 3].map((n) => ({ vector: (part: Part) => bytes(50 * n + part) }));
    await expect(summing([undefined, ...lies]).collect()).rejects.toThrow(
      'the authorities do not agree on a sum of masks',
    );
  });
});
