/** The end of a batch without enough votes: its uploads wait again, are refused, or their outcome is unknown. */
import { toHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { ProblemCode } from '@basa/protocol/http';
import type { ShotBatch } from '@basa/protocol/internal/one-shot/sums.ts';
import type { OneShotPolicy } from '@basa/protocol/policy';
import { epochEnd } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { describe, expect, it } from 'vitest';
import { AuthorityRefusal } from '../../src/authority/authority-http.ts';
import { UNOPENED } from '../../src/closing/opening.ts';
import type { ShotContext } from '../../src/shots/inspector.ts';
import { ShotGatherer } from '../../src/shots/shot-gatherer.ts';
import { council } from '../support/council.ts';

type Answer = 'vote' | readonly [ProblemCode, ...number[]];

function scene(answers: readonly Answer[], { releases = 'too-few-votes' as ProblemCode } = {}) {
  const { world, policy, epochs, known, names, shots, ctx, sum, voteOf, ...batch } = council();
  const authorities = answers.map((answer, authority) => ({
    authority,
    link: {
      voteForBatch: async () => {
        if (answer !== 'vote') throw new AuthorityRefusal(answer[0], 'no', answer.slice(1) as number[]);
        return voteOf(authority);
      },
      release: async () => {
        throw new AuthorityRefusal(releases, 'no');
      },
    },
  }));
  const seen = { now: world.now as number, kept: undefined as Uint8Array | undefined };
  const [steps, removed]: [[string, unknown][], string[]] = [[], []];
  const batches = {
    step: async (_: Ctx, step: (found: ShotBatch) => { readonly state: ShotBatch }, { freed }: { freed?: unknown }) => {
      const { state } = step(sum);
      steps.push([state.status, freed]);
      return { kind: state.status };
    },
  };
  const gatherer = new ShotGatherer({
    ...{ ...batch, policy, batches, authorities },
    store: {
      batchShots: async () => shots.map((shot) => ({ ...shot, status: 'batched', bodyHash: seen.kept })),
      now: async () => seen.now,
    },
    blobs: {
      removeBelow: async (...keys: string[]) => void removed.push(...keys),
      size: async () => 9,
      read: async function* (_: string, from: number, to: number) {
        yield new Uint8Array(to - from);
      },
    },
    epochs: { named: async () => known },
    watch: { traces: { step: (_: string, __: object, work: () => unknown) => work() } },
  } as unknown as ShotContext);
  const open = () => gatherer.open(sum, undefined).catch((error: Error) => error.message);
  const endsAt = Math.max(...epochs.map((epoch) => epochEnd(policy.oneShot as OneShotPolicy, epoch)));
  return { known, sum, ctx, seen, steps, removed, names, gatherer, open, endsAt };
}

const NO: Answer = ['too-few'];
const keyOf = (name: Uint8Array): string => `uploads/${toHex(name)}`;

describe('a batch', () => {
  it('with enough votes is granted, and waits for its masks', async () => {
    const { open, steps } = scene(['vote', 'vote', 'vote', NO]);
    expect(await open()).toContain('too few authorities sum the masks');
    expect(steps).toEqual([['granted', undefined]]);
  });

  it('that is final is left out of a version if too many authorities gave up its epochs', async () => {
    const { open, steps } = scene(['vote', 'vote', 'vote', 'vote'], { releases: 'epoch-over' });
    expect(await open()).toEqual({ kind: 'quarantine', why: UNOPENED });
    expect(steps.map(([status]) => status)).toEqual(['granted']);
  });

  it('with a body that was changed after it was accepted is left out of a version', async () => {
    const { open, seen } = scene(['vote', 'vote', 'vote', 'vote'], { releases: 'epoch-over' });
    seen.kept = nodeSuite.sha256(new Uint8Array(9));
    expect(await open()).toEqual({ kind: 'quarantine', why: UNOPENED });
    seen.kept = nodeSuite.sha256(new Uint8Array(8));
    expect(await open()).toEqual({ kind: 'quarantine', why: 'a stored body was changed after it was accepted' });
  });

  it('without a vote is dissolved if more authorities refuse an upload than may lie', async () => {
    const { open, steps, removed, names } = scene([['certificate-invalid', 1], ['certificate-invalid', 1], NO, NO]);
    expect(await open()).toContain('0 of 3 voted for a batch');
    expect(steps).toEqual([['aborted', [{ name: names[1], reason: 'certificate-invalid' }]]]);
    expect(removed).toEqual([keyOf(names[1] as Ctx)]);
    const unknown = scene([['malformed', 2], ['malformed', 2], NO, NO]);
    await unknown.open();
    expect(unknown.steps).toEqual([['aborted', [{ name: unknown.names[2], reason: 'batch-invalid' }]]]);
  });

  it('with a vote, or with one refusal, keeps its uploads', async () => {
    const bad: Answer = ['certificate-invalid', 1];
    const scenes = [scene(['vote', bad, bad, bad]), scene([bad, NO, NO, NO])];
    for (const { open, steps } of scenes) {
      expect(await open()).toContain('of 3 voted for a batch');
      expect(steps).toEqual([]);
    }
  });

  it('with too few votes has an unknown outcome once its last epoch is given up', async () => {
    const { open, steps, seen, endsAt, gatherer, sum } = scene(['vote', NO, NO, NO]);
    seen.now = endsAt - 1;
    await open();
    await gatherer.lost(sum, undefined);
    expect(steps).toEqual([]);
    seen.now++;
    await open();
    await gatherer.lost(sum, undefined);
    expect(steps).toEqual([
      ['unknown', undefined],
      ['unknown', undefined],
    ]);
  });

  it('that is granted is not voted for again', async () => {
    const { gatherer, sum } = scene([NO, NO, NO, NO]);
    const granted = { ...sum, status: 'granted' } as ShotBatch;
    await expect(gatherer.open(granted, undefined)).rejects.toThrow('too few authorities sum the masks');
  });

  it('is lost in time although the server forgot one of its epochs', async () => {
    const { gatherer, sum, steps, seen, known, endsAt } = scene([]);
    known.delete([...known.keys()][0] as string);
    seen.now = endsAt - 1;
    await gatherer.lost(sum, undefined);
    expect(steps).toEqual([]);
    seen.now++;
    await gatherer.lost(sum, undefined);
    expect(steps).toHaveLength(1);
  });

  it('leaves the bodies of its uploads only if they wait again', async () => {
    const { gatherer, sum, ctx, removed, names } = scene([]);
    await gatherer.ended({ ...sum, status: 'aborted' } as ShotBatch);
    expect(removed.splice(0)).toEqual([keyOf(ctx)]);
    await gatherer.ended({ ...sum, status: 'included' } as ShotBatch);
    expect(removed).toEqual([ctx, ...names].map(keyOf));
  });
});
