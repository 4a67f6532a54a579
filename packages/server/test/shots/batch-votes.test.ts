/** The votes for a batch: who is asked again, which refusals count against uploads, and which other batch authorities hold. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Batch,
  batchCtxOf,
  type Ctx,
  endorse,
  type ProblemCode,
  type Verdict,
  type Vote,
  voteCodec,
} from '@basa/protocol';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import { askForVotes, heldBatch, refusedUploads, type VotedBatch, type Voting } from '../../src/shots/batch-votes.ts';
import { bytes } from '../support/store-samples.ts';

type Answer = { readonly vote?: Vote | undefined; readonly held?: Batch };

/** Four authorities, of which three must vote and one may lie; a batch of three uploads. */
function scene(
  answers: readonly ((attempt: number, votes: number) => Answer)[],
  shown: readonly Partial<Verdict>[] = [],
) {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const batch: Batch = { task, number: 0, uploads: [1, 2, 3].map((n) => bytes(n) as Ctx) };
  const ctx = batchCtxOf(suite, batch);
  const voteOf = (authority: number, change: Partial<Vote> = {}): Vote =>
    endorse(voteCodec, policy, world.authority(authority).base.ports.signer, { task, ctx, closing: ctx, ...change });
  const asked: [number, number][] = [];
  const again: number[][] = [];
  const members = answers.map((answer, authority) => ({
    authority,
    link: {
      voteForBatch: async ({ votes }: { readonly votes: readonly unknown[] }) => {
        const attempt = asked.filter(([index]) => index === authority).length;
        asked.push([authority, votes.length]);
        return answer(attempt, votes.length);
      },
    },
  }));
  const inspector = {
    showAgain: async (_: unknown, shots: readonly { readonly name: Ctx }[]) => {
      again.push(shots.map(({ name }) => name[0] as number));
      return shown.map((verdict) => ({ upload: bytes(2), ...verdict }));
    },
  };
  const voted = {
    sum: { batch, votes: [] },
    closing: { suite, task, policy, ctx, headers: [] },
    shots: batch.uploads.map((name) => ({ name })),
    models: [],
  } as unknown as VotedBatch;
  const tools = { authorities: { members }, inspector } as never;
  const run = (votes: Vote['endorsements'] = []) =>
    askForVotes(tools, { ...voted, sum: { ...voted.sum, votes } } as VotedBatch);
  return { run, voted, voteOf, asked, again, batch };
}

const refuse =
  (code: ProblemCode, slots: readonly number[] = []) =>
  (): never => {
    throw new AuthorityRefusal(code, 'no', slots);
  };
const authoritiesOf = ({ votes }: Voting): readonly number[] => votes.map(({ authority }) => authority);
const voting = (): Answer => ({ vote: undefined });

describe('authorities', () => {
  it('are asked once, if enough of them vote', async () => {
    const { run, voteOf, asked } = scene([0, 1, 2].map((n) => () => ({ vote: voteOf(n) })).concat(refuse('too-few')));
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    expect(asked.map(([n]) => n).sort()).toEqual([0, 1, 2, 3]);
  });

  it('that did not vote are asked once more with the votes of the others, if not all of these may lie', async () => {
    const answers = [0, 1, 2, 3].map((n) => (_: number, votes: number): Answer => {
      if (n < 2 || votes >= 2) return { vote: voteOf(n) };
      throw new AuthorityRefusal('too-few', 'no');
    });
    const { run, voteOf, asked } = scene(answers);
    expect(authoritiesOf(await run())).toEqual([0, 1, 2, 3]);
    expect(asked.slice(4).sort()).toEqual([
      [2, 2],
      [3, 2],
    ]);
    const lone = scene([() => ({ vote: lone.voteOf(0) }), ...Array(3).fill(refuse('batch-invalid', [1]))]);
    const result = await lone.run();
    expect([authoritiesOf(result), result.refusals.length, lone.asked.length]).toEqual([[0], 3, 4]);
  });

  it('that voted before are not asked again', async () => {
    const { run, voteOf, asked } = scene([0, 1, 2, 3].map((n) => () => ({ vote: voteOf(n) })));
    const known = [0, 3].flatMap((n) => voteOf(n).endorsements);
    expect(authoritiesOf(await run(known))).toEqual([0, 1, 2, 3]);
    expect(asked.map(([n]) => n).sort()).toEqual([1, 2]);
  });

  it('that vote for something else, or do not vote, are not counted', async () => {
    const { run, voteOf, batch } = scene([
      () => ({ vote: voteOf(0, { closing: bytes(9) }) }),
      () => ({ vote: voteOf(0) }),
      () => ({ vote: undefined, held: { ...batch, number: 7 } }),
      voting,
    ]);
    const { votes, held, refusals } = await run();
    expect([votes, held.map(({ number }) => number), refusals]).toEqual([[], [7], []]);
  });

  it('that are silent hold up nothing once enough voted', async () => {
    const { run, voteOf } = scene([
      ...[0, 1, 2].map((n) => () => ({ vote: voteOf(n) })),
      () => new Promise(() => undefined) as never,
    ]);
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    const more = scene([
      () => new Promise(() => undefined) as never,
      ...[1, 2, 3].map((n) => () => ({ vote: more.voteOf(n) })),
    ]);
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
] as const)('slow votes are awaited until enough authorities voted: %j', async (kinds, voters) => {
  const answers = kinds.map((kind, n) => (): Answer => {
    if (kind === 'none') return { vote: undefined };
    const vote = { vote: voteOf(n) };
    return kind === 'slow' ? (sleep(700, vote) as never) : vote;
  });
  const { run, voteOf } = scene(answers);
  expect(authoritiesOf(await run())).toEqual(voters);
});

describe('an authority that forgot uploads', () => {
  const once = (slots: readonly number[], vote: () => Vote) => (attempt: number) => {
    if (attempt === 0) throw new AuthorityRefusal('not-inspected', 'no', slots);
    return { vote: vote() };
  };

  it.each([
    [[1], [2]],
    [[], [1, 2, 3]],
    [[9], [1, 2, 3]],
  ])('at positions %j is shown them again, and then votes', async (slots, names) => {
    const { run, voteOf, again } = scene([once(slots, () => voteOf(0)), voting, voting, voting]);
    expect(authoritiesOf(await run())).toEqual([0]);
    expect(again).toEqual([names]);
  });

  it('and forgets them again does not count against them, and another fault neither', async () => {
    const { run, again } = scene([
      refuse('not-inspected', [1]),
      () => {
        throw new AuthorityUnreachable('not-inspected');
      },
      voting,
      voting,
    ]);
    expect((await run()).refusals).toEqual([]);
    expect(again).toEqual([[2]]);
  });

  it('and does not find them good any more refuses them, with the first of its reasons', async () => {
    const bad = { verdict: 'bad', reason: 'part-invalid' } as const;
    const late = { verdict: 'abstain', reason: 'epoch-over' } as const;
    const { run } = scene(
      [refuse('not-inspected'), voting, voting, voting],
      [{ verdict: 'good' }, bad, { ...late, upload: bytes(1) as Ctx }, { ...bad, upload: bytes(3) as Ctx }],
    );
    expect((await run()).refusals).toMatchObject([{ code: 'part-invalid', slots: [1, 2] }]);
  });

  it('and does not know a device votes for itself', async () => {
    const unknown = { verdict: 'abstain', reason: 'not-enrolled' } as const;
    const { run, voteOf } = scene([once([], () => voteOf(0)), voting, voting, voting], [unknown]);
    expect(authoritiesOf(await run())).toEqual([0]);
  });
});

it('a batch or a refusal counts if more authorities tell it than may lie', () => {
  const { voted, batch } = scene([]);
  const [one, two] = [
    { ...batch, number: 5 },
    { ...batch, number: 6 },
  ];
  const of = (held: readonly Batch[], refusals: Voting['refusals'] = []): Voting => ({ votes: [], held, refusals });
  expect(heldBatch(of([one, two]), voted)).toBeUndefined();
  expect(heldBatch(of([one, two, { ...two }]), voted)).toEqual(two);
  const late = { code: 'epoch-over', slots: [1, 7] } as const;
  expect(refusedUploads(of([], [late]), voted)).toEqual([]);
  expect(refusedUploads(of([], [late, late]), voted)).toEqual([{ name: bytes(2), code: 'epoch-over' }]);
});
