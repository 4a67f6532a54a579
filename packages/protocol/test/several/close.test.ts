/** A buffer closes by votes: each authority has one, and keys leave only with as many as are needed for one close. */
import {
  type AuthorityRecord,
  authorityMessages,
  type CloseAnswer,
  type CloseRequest,
  endorse,
  isRefused,
  type KeyIssued,
  millis,
  type UploadHeader,
  voteCodec,
} from '@basa/protocol';
import { CLOSE_MS, type Federation, type FederationDevice, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import {
  atSeveralCloses,
  authorityOf,
  closedBy,
  forgettingSlot,
  onlySlots,
  SLOTS,
  votesOf,
  withRecords,
} from '@basa/testkit/core/several.ts';
import { describe, expect, it } from 'vitest';

const ALL = [0, 1, 2, 3];
const { uploadHeader } = authorityMessages(SLOTS);
const named = ({ keys }: CloseAnswer) => keys.map(({ slot, role }) => `${role} ${slot}`);
const kindsOf = (world: Federation, index: number) =>
  authorityOf(world, index)
    .records.map(({ kind }) => kind)
    .filter((kind) => kind.startsWith('buffer-'));

describe('a vote', () => {
  it('is recorded, brings no key, and is the same for a repeated request [R3]', () => {
    const { world, request } = atSeveralCloses();
    const answer = granted(closedBy(world, 0, request));
    expect(answer).toMatchObject({ keys: [], outcome: { status: 'open' } });
    expect(answer.vote.endorsements.map(({ authority }) => authority)).toEqual([0]);
    expect(kindsOf(world, 0)).toEqual(['buffer-drawn', 'buffer-voted']);
    expect(closedBy(world, 0, request)).toEqual(answer);
    expect(kindsOf(world, 0)).toEqual(['buffer-drawn', 'buffer-voted']);
  });

  it('is given once: for another close it is refused, also after a restart [R8]', () => {
    const { world, request } = atSeveralCloses();
    granted(closedBy(world, 0, request));
    expect(reasonOf(closedBy(world, 0, request, onlySlots(request, [0, 1])))).toBe('other-vote');
    authorityOf(world, 0).restart();
    expect(reasonOf(closedBy(world, 0, request, onlySlots(request, [1, 2])))).toBe('other-vote');
    expect(named(granted(closedBy(world, 0, request)))).toEqual([]);
  });

  it('is not given to a set that the authority cannot vouch for', () => {
    const { world, request } = atSeveralCloses();
    const headers = request.headers.map((header, n) =>
      n === 1 ? { ...header, signature: new Uint8Array(64) } : header,
    );
    expect(closedBy(world, 0, request, { headers })).toMatchObject({ reason: 'close-mismatch', slots: [1] });
    expect(kindsOf(world, 0)).toEqual(['buffer-drawn']);
  });
});

describe('a release', () => {
  it('needs the votes of three: with two nothing leaves [R9]', () => {
    const { world, request } = atSeveralCloses();
    const votes = votesOf(world, [1, 2, 3], request);
    expect(named(granted(closedBy(world, 3, request, { votes: votes.slice(0, 1) })))).toEqual([]);
    const answer = granted(closedBy(world, 3, request, { votes }));
    expect(named(answer)).toEqual(['self 0', 'self 1', 'self 2', 'edge 3']);
    expect(answer.outcome.accepted.map(({ slot }) => slot)).toEqual([0, 1, 2]);
  });

  it('comes immediately if this authority is the last one needed, and counts its own vote once', () => {
    const { world, request } = atSeveralCloses();
    const votes = votesOf(world, [0, 1], request);
    expect(named(granted(closedBy(world, 0, request, { votes })))).toEqual([]);
    expect(named(granted(closedBy(world, 2, request, { votes })))).toHaveLength(4);
  });

  it('is for one close: different sets at different authorities release nothing', () => {
    const { world, request } = atSeveralCloses();
    const sets = [
      [0, 1],
      [0, 2],
      [1, 2],
      [0, 1, 2],
    ];
    const votes = ALL.flatMap((n) => votesOf(world, [n], request, onlySlots(request, sets[n] as number[])));
    expect(votes).toHaveLength(4);
    for (const index of ALL) {
      for (const set of sets) {
        const answer = closedBy(world, index, request, { ...onlySlots(request, set), votes });
        if (!isRefused(answer)) expect(answer).toMatchObject({ keys: [], outcome: { status: 'open' } });
      }
      expect(kindsOf(world, index)).toEqual(['buffer-drawn', 'buffer-voted']);
    }
  });

  it('follows the votes of three, even against the vote of this authority', () => {
    const { world, request } = atSeveralCloses();
    const other = votesOf(world, [0], request, onlySlots(request, [0, 1]));
    const votes = votesOf(world, [1, 2, 3], request);
    const answer = granted(closedBy(world, 0, request, { votes }));
    expect(named(answer)).toEqual(['self 0', 'self 1', 'self 2', 'edge 3']);
    // It stands by the vote that it gave.
    expect(answer.vote.endorsements).toEqual(other);
    expect(granted(closedBy(world, 0, request, onlySlots(request, [0, 1])))).toEqual(answer);
  });

  it('needs more than votes for another close, of another task, under another index, or repeated votes', () => {
    const { world, request, ctx } = atSeveralCloses();
    const votes = votesOf(world, [1, 2, 3], request);
    const { vote } = granted(closedBy(world, 1, request));
    const { endorsements: _, ...body } = vote;
    const elsewhere = [1, 2, 3].flatMap((n) => {
      const { signer } = authorityOf(world, n).ports;
      return endorse(voteCodec, world.policy, signer, { ...body, task: new Uint8Array(32) as never }).endorsements;
    });
    const [one, two] = votes as [(typeof votes)[number], (typeof votes)[number]];
    const notGood = [
      elsewhere,
      [{ ...one, authority: 0 }, two, votes[2] as typeof one],
      votes.map((each) => ({ ...each, signature: one.signature })),
      [one, two, { authority: 9, signature: one.signature }],
    ];
    for (const wrong of notGood) {
      expect(named(granted(closedBy(world, 0, request, { votes: wrong })))).toEqual([]);
      expect(authorityOf(world, 0).outcome(ctx).status).toBe('open');
    }
    const shorter = closedBy(world, 0, request, { ...onlySlots(request, [0, 1]), votes });
    expect(reasonOf(shorter)).toBe('other-vote');
    expect(named(granted(closedBy(world, 0, request, { votes })))).toHaveLength(4);
  });
});

describe('an authority with another record', () => {
  /** Authority 3 registered something else for this slot. */
  function contradicting(slot: number, change: Partial<KeyIssued>) {
    const scene = atSeveralCloses();
    const { world, ctx } = scene;
    withRecords(world, 3, (record): readonly AuthorityRecord[] =>
      record.kind === 'key-issued' && record.ctx.every((byte, n) => byte === ctx[n]) && record.slot === slot
        ? [{ ...record, ...change }]
        : [record],
    );
    return scene;
  }

  it.each(['user', 'joinTag', 'root', 'view'] as const)(
    '(%s) does not vote, and once three others did, gives neither key of that slot [R7]',
    (name) => {
      for (const slot of [1, 3]) {
        const { world, request } = contradicting(slot, { [name]: new Uint8Array(32).fill(9) });
        if (slot === 1) expect(closedBy(world, 3, request)).toMatchObject({ reason: 'close-mismatch', slots: [1] });
        const votes = votesOf(world, [0, 1, 2], request);
        const answer = granted(closedBy(world, 3, request, { votes }));
        expect(answer.keys.map((released) => released.slot)).toEqual(ALL.filter((each) => each !== slot));
        // The same from only its log.
        expect(granted(closedBy(world, 3, request)).keys).toEqual(answer.keys);
      }
    },
  );
});

describe('an authority without a record of a slot', () => {
  function forgetful(signers: readonly number[]) {
    const scene = atSeveralCloses();
    const { world, ctx, request, devices } = scene;
    withRecords(world, 3, forgettingSlot(ctx, 1));
    const header = request.headers[1] as UploadHeader;
    const { receipt } = header;
    const endorsements = receipt.endorsements.filter(({ authority }) => signers.includes(authority));
    const body = { ...header, receipt: { ...receipt, endorsements } };
    const signature = (devices[1] as FederationDevice).signer.sign(uploadHeader.statement(body));
    const headers = request.headers.map((each, n) => (n === 1 ? { ...body, signature } : each));
    return { ...scene, change: { headers } satisfies Partial<CloseRequest> };
  }

  it('votes on the receipts of three others [R22]', () => {
    const { world, request, change } = forgetful([0, 1, 2]);
    expect(granted(closedBy(world, 3, request, change)).vote.endorsements).toHaveLength(1);
  });

  it('does not vote if its own signature is one of the three, or if there are only two [R6]', () => {
    for (const signers of [
      [0, 1, 3],
      [0, 1],
    ]) {
      const { world, request, change } = forgetful(signers);
      expect(closedBy(world, 3, request, change)).toMatchObject({ reason: 'close-mismatch', slots: [1] });
    }
  });

  it('does not vote for a receipt of another slot, nor for another device under the tag', () => {
    const { world, request, change, devices } = forgetful([0, 1, 2]);
    const [first, second] = [request.headers[0] as UploadHeader, change.headers[1] as UploadHeader];
    const body = { ...second, receipt: first.receipt };
    const signature = (devices[1] as FederationDevice).signer.sign(uploadHeader.statement(body));
    const swapped = change.headers.map((header, n) => (n === 1 ? { ...body, signature } : header));
    expect(reasonOf(closedBy(world, 3, request, { headers: swapped }))).toBe('close-mismatch');
    const stranger = world.device().signer.publicKey;
    const deposits = request.deposits.map((each, n) => (n === 1 ? { ...each, deviceKey: stranger } : each));
    expect(reasonOf(closedBy(world, 3, request, { ...change, deposits }))).toBe('close-mismatch');
  });

  it('that has one votes with the receipts of two others: its record is the third', () => {
    const { world, request, change } = forgetful([1, 2]);
    expect(granted(closedBy(world, 0, request, change)).vote.endorsements).toHaveLength(1);
    expect(reasonOf(closedBy(world, 3, request, change))).toBe('close-mismatch');
  });
});

describe('after closeBy', () => {
  it('only those abort that have not voted [R11]', () => {
    const { world, ctx, request } = atSeveralCloses();
    const votes = votesOf(world, [0, 1], request);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(ALL.map((n) => authorityOf(world, n).outcome(ctx).status)).toEqual(['open', 'open', 'aborted', 'aborted']);
    expect(authorityOf(world, 0).core.tick(world.now).records).toEqual([]);
    // Two votes are too few, and an authority that aborted gives no third.
    expect(reasonOf(closedBy(world, 2, request, { votes }))).toBe('buffer-over');
    expect(named(granted(closedBy(world, 0, request, { votes })))).toEqual([]);
  });

  it('authorities that voted and heard nothing for a week give the buffer up: no key, and no outcome that frees an update', () => {
    const { world, ctx, request } = atSeveralCloses();
    const votes = votesOf(world, [0, 1, 2], request);
    const authority = authorityOf(world, 0);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    const { nextAt } = granted(authority.core.tick(world.now).answer);
    expect(nextAt).toBe(world.now + 7 * 24 * 3_600_000);
    world.now = millis((nextAt as number) - 1);
    expect(authority.core.tick(world.now).records).toEqual([]);
    world.now = millis(nextAt as number);
    expect(granted(authority.persist(authority.core.tick(world.now))).nextAt).toBeUndefined();
    expect(kindsOf(world, 0).at(-1)).toBe('buffer-unknown');
    expect(authority.core.openBuffers).toBe(0);
    expect(authority.outcome(ctx).status).toBe('unknown');
    expect(reasonOf(closedBy(world, 0, request, { votes }))).toBe('buffer-over');
    // Without a tick, the close itself finds it over.
    expect(reasonOf(closedBy(world, 1, request, { votes }))).toBe('buffer-over');
    expect(kindsOf(world, 1).at(-1)).toBe('buffer-unknown');
  });

  it('authorities that voted still close by the votes of three', () => {
    const { world, ctx, request } = atSeveralCloses();
    const votes = votesOf(world, [0, 1, 2], request);
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(named(granted(closedBy(world, 1, request, { votes })))).toHaveLength(4);
    expect(reasonOf(closedBy(world, 3, request, { votes }))).toBe('buffer-over');
    expect(authorityOf(world, 1).outcome(ctx).status).toBe('closed');
  });
});
