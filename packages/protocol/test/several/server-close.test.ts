/** What the server makes of several authorities' answers to a close: votes counted, keys gathered, the sum opened. */
import type { CloseRequest } from '@basa/protocol';
import { authorityMessages } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { atSeveralCloses, authorityOf, closedBy, closedTogether, SLOTS } from '@basa/testkit/core/several.ts';
import { describe, expect, it } from 'vitest';

const ALL = [0, 1, 2, 3];

describe('the server', () => {
  it('asks twice, and has the keys of all that closed', () => {
    const { world, ctx } = atSeveralCloses();
    const asked: CloseRequest[] = [];
    const grant = granted(
      closedTogether(world, ctx, (request) => {
        asked.push(request);
        return ALL.map((n) => [n, closedBy(world, n, request)] as const);
      }),
    );
    expect(asked.map(({ votes }) => votes.length)).toEqual([0, 4]);
    expect(grant.answers.map(({ authority }) => authority)).toEqual(ALL);
    expect(grant.votes).toHaveLength(4);
  });

  it('has no grant of two authorities, however often they answer', () => {
    const { world, ctx } = atSeveralCloses();
    const no = closedTogether(world, ctx, (request) => [0, 1, 1, 0].map((n) => [n, closedBy(world, n, request)]));
    expect(no).toMatchObject({ reason: 'too-few-votes', detail: '2 of 3' });
  });

  it('counts no answer under another index, and no vote that its authority did not sign', () => {
    const { world, ctx } = atSeveralCloses();
    const renamed = closedTogether(world, ctx, (request) => {
      const [first, second] = [closedBy(world, 0, request), closedBy(world, 1, request)];
      return [
        [0, first],
        [1, second],
        [2, second],
        [3, first],
      ];
    });
    expect(renamed).toMatchObject({ reason: 'too-few-votes', detail: '2 of 3' });
    const { closeAnswer } = authorityMessages(SLOTS);
    const borrowed = closedTogether(world, ctx, (request) => {
      const answers = [0, 1].map((n) => granted(closedBy(world, n, request)));
      const { signer } = authorityOf(world, 2).ports;
      const honest = granted(closedBy(world, 2, request));
      const vote = { ...honest.vote, endorsements: [{ authority: 2, signature: new Uint8Array(64) }] };
      const body = { ...honest, vote };
      const lie = { ...body, signature: signer.sign(closeAnswer.statement(body)) };
      return [...answers.map((answer, n) => [n, answer] as const), [2, lie] as const];
    });
    expect(borrowed).toMatchObject({ reason: 'too-few-votes', detail: '2 of 3' });
  });

  it('opens the sum past one authority that released other keys than its own', () => {
    const { world, ctx } = atSeveralCloses();
    const grant = granted(closedTogether(world, ctx, (request) => ALL.map((n) => [n, closedBy(world, n, request)])));
    const keys = grant.answers.map(({ authority, answer }) => ({
      authority,
      keys: answer.keys.map((one) => (authority === 1 ? { ...one, key: new Uint8Array(32).fill(3) } : one)),
    }));
    expect(world.server.openSum(ctx, keys)).toMatchObject({ kind: 'good', sum: Uint32Array.of(1, 1, 1, 0) });
    const two = keys.filter(({ authority }) => authority !== 0).slice(0, 2);
    expect(() => world.server.openSum(ctx, two)).toThrow('without enough self keys of slot 0');
  });
});
