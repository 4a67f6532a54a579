/** The votes for a batch: who is asked again, which refusals count against uploads, and which other batch authorities hold. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ctx } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import { endorse } from '@basa/protocol/internal/wire/council.ts';
import { type Batch, batchCtxOf, type ShotUpload, type Verdict, type Vote, voteCodec } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal, AuthorityUnreachable } from '../../src/authority/authority-http.ts';
import { askForVotes, refusedUploads, type VotedBatch, type Voting } from '../../src/shots/votes.ts';
import { bytes, uploadOf } from '../support/store-samples.ts';

type Answer = Vote;

/** Four authorities, of which three must vote and one may lie; a batch of three uploads. */
function scene(answers: readonly ((attempt: number) => Answer)[], shown: readonly Partial<Verdict>[] = []) {
  const world = new ShotWorld();
  const { task, policy } = world;
  const { suite } = world.environment.tools;
  const batch: Batch = { task, uploads: [1, 2, 3].map((n) => bytes(n) as Ctx) };
  const ctx = batchCtxOf(suite, batch);
  const voteOf = (authority: number, change: Partial<Vote> = {}): Vote =>
    endorse(voteCodec, policy, world.authority(authority).base.ports.signer, { task, ctx, ...change });
  const asked: number[] = [];
  const again: number[][] = [];
  const members = answers.map((answer, authority) => ({
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
  const voted = {
    sum: { ctx, batch, votes: [] },
    closing: { suite, task, policy, ctx, headers: [] },
    shots: batch.uploads.map((name) => ({ name, upload: uploadOf(name[0] as number) })),
  } as unknown as VotedBatch;
  const read = async function* (_: string, from: number, to: number) {
    yield new Uint8Array(to - from);
  };
  const epochs = { named: async () => new Map() };
  const tools = { task, policy, authorities: members, blobs: { read }, epochs } as never;
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
/** It does not answer. */
const silent = (): never => {
  throw new AuthorityUnreachable('no answer');
};

describe('authorities', () => {
  it('are asked once, if enough of them vote', async () => {
    const { run, voteOf, asked } = scene([0, 1, 2].map((n) => () => voteOf(n)).concat(refuse('too-few')));
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    expect([...asked].sort()).toEqual([0, 1, 2, 3]);
  });

  it('that voted before are not asked again', async () => {
    const { run, voteOf, asked } = scene([0, 1, 2, 3].map((n) => () => voteOf(n)));
    const known = [0, 3].flatMap((n) => voteOf(n).endorsements);
    expect(authoritiesOf(await run(known))).toEqual([0, 1, 2, 3]);
    expect([...asked].sort()).toEqual([1, 2]);
  });

  it('that vote for something else, or do not vote, are not counted', async () => {
    const { run, voteOf } = scene([() => voteOf(0, { ctx: bytes(9) as Ctx }), () => voteOf(1), silent, silent]);
    const { votes, refusals } = await run();
    expect([votes.map(({ authority }) => authority), refusals]).toEqual([[1], []]);
  });

  it('that are silent hold up nothing once enough voted', async () => {
    const { run, voteOf } = scene([
      ...[0, 1, 2].map((n) => () => voteOf(n)),
      () => new Promise(() => undefined) as never,
    ]);
    expect(authoritiesOf(await run())).toEqual([0, 1, 2]);
    const more = scene([() => new Promise(() => undefined) as never, ...[1, 2, 3].map((n) => () => more.voteOf(n))]);
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
    if (kind === 'none') return silent();
    const vote = voteOf(n);
    return kind === 'slow' ? (sleep(700, vote) as never) : vote;
  });
  const { run, voteOf } = scene(answers);
  expect(authoritiesOf(await run())).toEqual(voters);
});

describe('an authority that forgot uploads', () => {
  const once = (slots: readonly number[], vote: () => Vote) => (attempt: number) => {
    if (attempt === 0) throw new AuthorityRefusal('not-inspected', 'no', slots);
    return vote();
  };

  it.each([
    [[1], [2]],
    [[], [1, 2, 3]],
    [[9], [1, 2, 3]],
  ])('at positions %j is shown them again, and then votes', async (slots, names) => {
    const { run, voteOf, again } = scene([once(slots, () => voteOf(0)), silent, silent, silent]);
    expect(authoritiesOf(await run())).toEqual([0]);
    expect(again).toEqual([names]);
  });

  it('and forgets them again does not count against them, and another fault neither', async () => {
    const { run, again } = scene([
      refuse('not-inspected', [1]),
      () => {
        throw new AuthorityUnreachable('not-inspected');
      },
      silent,
      silent,
    ]);
    expect((await run()).refusals).toEqual([]);
    expect(again).toEqual([[2]]);
  });

  it('and does not find them good any more refuses them, with the first of its reasons', async () => {
    const bad = { verdict: 'bad', reason: 'part-invalid' } as const;
    const late = { verdict: 'abstain', reason: 'epoch-over' } as const;
    const { run } = scene(
      [refuse('not-inspected'), silent, silent, silent],
      [{ verdict: 'good' }, bad, { ...late, upload: bytes(1) as Ctx }, { ...bad, upload: bytes(3) as Ctx }],
    );
    expect((await run()).refusals).toMatchObject([{ code: 'part-invalid', slots: [1, 2] }]);
  });
});

it('a refusal counts if more authorities tell it than may lie', () => {
  const { voted } = scene([]);
  const of = (refusals: Voting['refusals']): Voting => ({ votes: [], refusals });
  const late = { code: 'epoch-over', slots: [1, 7] } as const;
  expect(refusedUploads(of([late]), voted)).toEqual([]);
  expect(refusedUploads(of([late, late]), voted)).toEqual([{ name: bytes(2), code: 'epoch-over' }]);
});
