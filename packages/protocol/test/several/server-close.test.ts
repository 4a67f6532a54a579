/** The server's use of several authorities' answers to a close: votes counted, keys gathered, the sum opened. */
import { slotSealedBytes, toHex } from '@basa/masking';
import {
  authorityMessages,
  type CloseRequest,
  closingOf,
  endorse,
  isCloseAnswer,
  listedSlots,
  recordGrant,
  type UploadHeader,
  uploadLayout,
  type Vote,
  voteCodec,
  votesFor,
} from '@basa/protocol';
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

  it('has no grant from two authorities, even if they answer often', () => {
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

  it.each<[string, Partial<Vote>]>([
    ['another task', { task: new Uint8Array(32) as never }],
    ['another buffer', { ctx: new Uint8Array(32) as never }],
    ['another close', { closing: new Uint8Array(32) }],
  ])('counts no vote for %s, though its authority signed it', (_, change) => {
    const { world, ctx } = atSeveralCloses();
    const { closeAnswer } = authorityMessages(SLOTS);
    const asked: number[] = [];
    const no = closedTogether(world, ctx, (request) => {
      asked.push(request.votes.length);
      return [0, 1, 2].map((n) => {
        const { signer } = authorityOf(world, n).ports;
        const honest = granted(closedBy(world, n, request));
        const { endorsements: _own, ...words } = { ...honest.vote, ...change };
        const body = { ...honest, vote: endorse(voteCodec, world.policy, signer, words) };
        return [n, { ...body, signature: signer.sign(closeAnswer.statement(body)) }];
      });
    });
    expect(no).toMatchObject({ reason: 'too-few-votes', detail: '0 of 3' });
    expect(asked).toEqual([0]);
  });

  it('takes no answer of an unknown authority, or of one without a part in the buffer', () => {
    const { world, ctx, request } = atSeveralCloses();
    const buffer = world.server.buffer(ctx);
    const answer = granted(closedBy(world, 3, request));
    const isTaken = (authority: number, parts = buffer.descriptor.parts) =>
      isCloseAnswer(
        world.server.ports,
        { ...buffer, descriptor: { ...buffer.descriptor, parts } },
        { authority, answer },
      );
    expect(isTaken(3)).toBe(true);
    expect(isTaken(3, buffer.descriptor.parts.slice(0, 3))).toBe(false);
    const nobody = { ...buffer.descriptor.parts[3], authority: 4 } as (typeof buffer.descriptor.parts)[number];
    expect(isTaken(4, [nobody])).toBe(false);
  });

  it('shows the votes that closed a buffer to authorities without a part in it, and no votes before the close', () => {
    const { world, ctx, request } = atSeveralCloses();
    const { ports } = world.server;
    const frozen = world.server.buffer(ctx);
    expect(votesFor(ports, frozen)).toEqual([]);
    const grant = granted(closedTogether(world, ctx, (one) => ALL.map((n) => [n, closedBy(world, n, one)])));
    const { hash } = closingOf(ports.suite, request, listedSlots(ports.suite, request));
    expect(votesFor(ports, recordGrant(frozen, grant).state)).toEqual([
      { task: world.task, ctx, closing: hash, endorsements: grant.votes },
    ]);
    expect(votesFor(ports, { ...frozen, votes: grant.votes, status: 'aborted' })).toEqual([]);
  });

  it('names the device that sealed another self seed than it signed for, even with one pad too few', () => {
    const { world, ctx } = atSeveralCloses();
    const grant = granted(closedTogether(world, ctx, (request) => ALL.map((n) => [n, closedBy(world, n, request)])));
    const keys = grant.answers.slice(0, 3).map(({ authority, answer }) => ({ authority, keys: answer.keys }));
    const { descriptor, slots } = world.server.buffer(ctx);
    const [name, body] = [...world.server.bodies].find(([of]) => of === `${toHex(ctx)}:2`) as [string, Uint8Array];
    const sealedBytes = slotSealedBytes(descriptor.parts.length);
    const { vectorBytes } = uploadLayout(descriptor, slots[2]?.header as UploadHeader, { sealedBytes });
    const spoilt = (at: number) => {
      world.server.bodies.set(
        name,
        body.map((byte, n) => (n === vectorBytes + at ? byte ^ 1 : byte)),
      );
      return world.server.openSum(ctx, keys);
    };
    expect(spoilt(0)).toEqual({ kind: 'quarantine', why: 'slots 2 cheated' });
    // R is as signed, and a share is not: the fourth authority's pad would tell.
    expect(spoilt(32)).toEqual({ kind: 'quarantine', why: 'slots 2 or an authority cheated' });
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
