/** A buffer is decided once: what each decision may follow, whose word it needs, and what becomes of its updates. */

import {
  authorityMessages,
  buildInput,
  type CloseAnswer,
  type Ctx,
  closeRequestOf,
  closeSteps,
  fateOf,
  freezeBuffer,
  type Grant,
  type JoinTag,
  judgeSum,
  millis,
  type Outcome,
  outcomeCodec,
  type Refused,
  recordAbort,
  recordGrant,
  recordIncluded,
  recordOpened,
  recordQuarantine,
  type SecureBuffer,
  type Slot,
} from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { atClose, closed } from '@basa/testkit/core/at-close.ts';
import { seededWords } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';

const STATUSES = ['filling', 'frozen', 'granted', 'opened', 'included', 'quarantined', 'aborted', 'unknown'] as const;
type Status = (typeof STATUSES)[number];

/** One buffer, whose fourth slot never uploaded, in each of its states, and the authority's signature on anything. */
function everyState() {
  const { world, ctx, request } = atClose();
  const { ports } = world.server;
  const { signer } = world.authority.ports;
  const frozen = world.server.buffer(ctx);
  const answer = granted(closed(world, request));
  const outcome = (status: Outcome['status'], change: Partial<Outcome> = {}): Outcome => {
    const body = { ctx, status, accepted: [], ...change };
    return { ...body, signature: signer.sign(outcomeCodec.statement(body)) };
  };
  const given: Grant = { kind: 'grant', votes: answer.vote.endorsements, answers: [{ authority: 0, answer }] };
  const grant = recordGrant(frozen, given).state;
  const told = (...of: Parameters<typeof outcome>) => [{ authority: 0, outcome: outcome(...of) }];
  const states: Record<Status, SecureBuffer> = {
    filling: { ...frozen, status: 'filling', accepted: [] },
    frozen,
    granted: grant,
    opened: recordOpened(grant).state,
    included: recordIncluded(grant, 1).state,
    quarantined: recordQuarantine(grant, 'a test', [0]).state,
    aborted: recordAbort(ports, frozen, told('aborted')).state,
    unknown: recordAbort(ports, grant, told('unknown')).state,
  };
  const steps = {
    freeze: (buffer: SecureBuffer) => freezeBuffer(buffer, 'stalled', world.now),
    ask: (buffer: SecureBuffer) => ({ answer: closeRequestOf(ports, buffer), records: [] }),
    grant: (buffer: SecureBuffer) => recordGrant(buffer, given),
    open: (buffer: SecureBuffer) => recordOpened(buffer),
    include: (buffer: SecureBuffer) => recordIncluded(buffer, 1),
    quarantine: (buffer: SecureBuffer) => recordQuarantine(buffer, 'a test', [0]),
    abort: (buffer: SecureBuffer) => recordAbort(ports, buffer, told('aborted')),
    lose: (buffer: SecureBuffer) => recordAbort(ports, buffer, told('unknown')),
    hope: (buffer: SecureBuffer) => recordAbort(ports, buffer, told('open')),
  };
  return { world, ctx, ports, signer, answer, outcome, told, states, steps };
}

/** A frozen buffer, and what a server makes of an answer to its close. */
function atAnswer() {
  const { states, ports, signer, answer, outcome } = everyState();
  const resigned = (change: Partial<CloseAnswer>): CloseAnswer => {
    const body = { ...answer, ...change };
    return { ...body, signature: signer.sign(authorityMessages(4).closeAnswer.statement(body)) };
  };
  const grantOf = (told: CloseAnswer) => {
    const steps = closeSteps(ports, states.frozen);
    steps.next();
    const asked = steps.next([{ authority: 0, answer: told }]);
    // It has the vote, and asks for the keys once more.
    return (asked.done ? asked : steps.next([{ authority: 0, answer: told }])).value as Grant | Refused;
  };
  return { answer, outcome, resigned, grantOf };
}

type Step = keyof ReturnType<typeof everyState>['steps'];

/** `+` is written down, `=` changes nothing, anything else is the reason of a refusal. */
function wordFor(step: object): string {
  const { answer, records } = step as { answer: object; records: readonly object[] };
  if ('kind' in answer && answer.kind === 'refused') return reasonOf(answer);
  return records.length > 0 ? '+' : '=';
}

describe('a decision', () => {
  const [no, late] = ['not-frozen', 'already-decided'];
  const table: [Status, Partial<Record<Step, string>>][] = [
    [
      'filling',
      { freeze: '+', ask: no, grant: no, open: late, include: late, quarantine: late, abort: '+', lose: '+' },
    ],
    [
      'frozen',
      { freeze: '=', ask: '=', grant: '+', open: late, include: late, quarantine: late, abort: '+', lose: '+' },
    ],
    [
      'granted',
      { freeze: '=', ask: '=', grant: '=', open: '+', include: '+', quarantine: '+', abort: late, lose: '+' },
    ],
    ['opened', { freeze: '=', ask: '=', grant: '=', open: '=', include: '+', quarantine: '+', abort: late, lose: '+' }],
    [
      'included',
      { freeze: '=', ask: '=', grant: '=', open: late, include: '=', quarantine: late, abort: late, lose: late },
    ],
    [
      'quarantined',
      { freeze: '=', ask: '=', grant: '=', open: late, include: late, quarantine: '=', abort: late, lose: late },
    ],
    [
      'aborted',
      { freeze: late, ask: no, grant: no, open: late, include: late, quarantine: late, abort: '=', lose: '=' },
    ],
    [
      'unknown',
      { freeze: late, ask: no, grant: no, open: late, include: late, quarantine: late, abort: '=', lose: '=' },
    ],
  ];
  it.each(table)('on a buffer that is %s is recorded, repeated or refused', (status, expected) => {
    const { states, steps } = everyState();
    expect(states[status].status).toBe(status);
    const found = (Object.keys(expected) as Step[]).map((name) => [name, wordFor(steps[name](states[status]))]);
    expect(Object.fromEntries(found)).toEqual(expected);
  });

  it('that was made before is answered in the same way', () => {
    const { states, steps } = everyState();
    expect(steps.abort(states.unknown)).toMatchObject({ answer: { kind: 'unknown' } });
    expect(steps.lose(states.aborted)).toMatchObject({ answer: { kind: 'aborted' } });
    expect(steps.freeze(states.granted)).toMatchObject({ answer: { accepted: [0, 1, 2] } });
  });

  it('to close is not asked for before the set is fixed', () => {
    const { states, ports } = everyState();
    expect(closeSteps(ports, states.filling).next()).toMatchObject({ done: true, value: { reason: 'not-frozen' } });
  });

  it('to abort needs a final outcome for this buffer, signed by the authority', () => {
    const { states, steps, outcome, told, ports } = everyState();
    expect(wordFor(steps.hope(states.frozen))).toBe('outcome-undecided');
    const another = told('aborted', { ctx: new Uint8Array(32) as Ctx });
    expect(wordFor(recordAbort(ports, states.frozen, another))).toBe('outcome-invalid');
    const unsigned = [{ authority: 0, outcome: { ...outcome('aborted'), signature: new Uint8Array(64) } }];
    expect(wordFor(recordAbort(ports, states.frozen, unsigned))).toBe('outcome-invalid');
  });

  it.each<[string, (outcome: Outcome) => Partial<Outcome>]>([
    ['another buffer', () => ({ ctx: new Uint8Array(32) as Ctx })],
    ['a buffer that is not closed', () => ({ status: 'open' })],
    ['fewer slots', ({ accepted }) => ({ accepted: accepted.slice(1) })],
    ['other slots', ({ accepted }) => ({ accepted: accepted.map((named) => ({ ...named, slot: 3 as Slot })) })],
    [
      'another user in a slot',
      ({ accepted }) => ({
        accepted: accepted.map((named, n) => (n === 0 ? { ...named, joinTag: new Uint8Array(32) as JoinTag } : named)),
      }),
    ],
  ])('to open is not taken from an answer about %s, though the authority signed it', (_, change) => {
    const { outcome, answer, resigned, grantOf } = atAnswer();
    const told = outcome('closed', { accepted: answer.outcome.accepted, ...change(answer.outcome) });
    expect(reasonOf(grantOf(resigned({ outcome: told })))).toBe('too-few-votes');
  });

  it('to open is not taken from an answer, or with an outcome, that the authority did not sign', () => {
    const { answer, resigned, grantOf } = atAnswer();
    expect(grantOf(resigned({}))).toMatchObject({ kind: 'grant' });
    const keys = answer.keys.map((one) => ({ ...one, key: one.key.map((byte) => byte ^ 1) }));
    expect(reasonOf(grantOf({ ...answer, keys }))).toBe('too-few-votes');
    const outcome = { ...answer.outcome, signature: new Uint8Array(64) };
    expect(reasonOf(grantOf(resigned({ outcome })))).toBe('too-few-votes');
  });
});

describe('the fate of an update', () => {
  it.each<[Status, string, string]>([
    ['filling', 'pending', 'pending'],
    ['frozen', 'pending', 'pending'],
    ['granted', 'pending', 'excluded'],
    ['opened', 'pending', 'excluded'],
    ['included', 'included', 'excluded'],
    ['quarantined', 'quarantined', 'excluded'],
    ['aborted', 'aborted', 'aborted'],
    ['unknown', 'unknown', 'unknown'],
  ])('in a buffer that is %s is %s, and %s if it was left out', (status, chosen, leftOut) => {
    const buffer = everyState().states[status];
    const fate = (slot: number) => fateOf(buffer, buffer.slots[slot]?.ticket.joinTag as JoinTag);
    expect([fate(0), fate(3)]).toEqual([chosen, leftOut]);
    expect(fateOf(buffer, new Uint8Array(32) as JoinTag)).toBeUndefined();
  });
});

describe('a freeze', () => {
  it('names each user that is left out and the reason (a void edge, or no upload), and no user that was dropped before', () => {
    const { world, ctx } = atClose();
    const buffer: SecureBuffer = { ...world.server.buffer(ctx), status: 'filling', accepted: [] };
    const withVoid = buffer.slots.map((slot, n) =>
      n === 2 && slot.header !== undefined ? { ...slot, header: { ...slot.header, voids: [1 as Slot] } } : slot,
    );
    const step = freezeBuffer({ ...buffer, slots: withVoid }, 'stalled', world.now);
    expect(step.answer).toEqual({ accepted: [0, 1] });
    expect(step.events.slice(1)).toMatchObject([
      { kind: 'slot-dropped', slot: 2, why: 'void-edge' },
      { kind: 'slot-dropped', slot: 3, why: 'left-out' },
    ]);
    const dropped = buffer.slots.map((slot, n) => (n === 3 ? { ...slot, status: 'dropped' as const } : slot));
    expect(freezeBuffer({ ...buffer, slots: dropped }, 'stalled', world.now).events).toHaveLength(1);
  });

  it('omits no user for a void edge to a slot that was not accepted', () => {
    const { world, ctx } = atClose();
    const buffer: SecureBuffer = { ...world.server.buffer(ctx), status: 'filling', accepted: [] };
    const slots = buffer.slots.map((slot, n) => {
      if (n === 1) return { ...slot, status: 'dropped' as const };
      return n === 2 && slot.header !== undefined ? { ...slot, header: { ...slot.header, voids: [1 as Slot] } } : slot;
    });
    expect(freezeBuffer({ ...buffer, slots }, 'stalled', world.now).answer).toEqual({ accepted: [0, 2] });
  });

  it('as expired waits exactly until expiry', () => {
    const { world, ctx } = atClose();
    const buffer: SecureBuffer = { ...world.server.buffer(ctx), status: 'filling', accepted: [] };
    const { expiry } = buffer.descriptor;
    expect(reasonOf(freezeBuffer(buffer, 'expired', millis(expiry - 1)).answer)).toBe('not-pending');
    expect(freezeBuffer(buffer, 'expired', expiry).answer).toEqual({ accepted: [0, 1, 2] });
  });
});

describe('a sum', () => {
  const { world, ctx } = atClose();
  const { descriptor } = world.server.buffer(ctx);
  const judged = (...words: number[]) => {
    const total = new Uint32Array(5 + descriptor.dimension);
    total.set(words.map((word) => word >>> 0));
    return judgeSum(descriptor, total, 3);
  };

  it('is good from the least weights to the most, and no further', () => {
    const most = 3 * descriptor.weightScale;
    for (const weights of [3, most])
      expect(judged(3, 0, 0, 0, weights)).toMatchObject({ kind: 'good', weightSum: weights });
    for (const weights of [2, most + 1, -1])
      expect(judged(3, 0, 0, 0, weights)).toEqual({ kind: 'quarantine', why: 'the sum of weights is out of range' });
  });

  it.each([
    ['the count', [2, 0, 0, 0, 3]],
    ['one zero of three', [3, 0, 1, 0, 3]],
  ])('with %s wrong is quarantined', (_, words) => {
    expect(judged(...words)).toEqual({ kind: 'quarantine', why: 'the guard words are wrong' });
  });

  it('with a larger sum of versions than its users can have is quarantined', () => {
    const mixed = { ...descriptor, versions: 'unsafeMixed' } as const;
    const judgedMixed = (sum: number) => {
      const total = new Uint32Array(6 + descriptor.dimension);
      total.set([3, 0, 0, 0, 3, sum]);
      return judgeSum(mixed, total, 3);
    };
    expect(judgedMixed(60).kind).toBe('good');
    expect(judgedMixed(61)).toEqual({ kind: 'quarantine', why: 'the sum of versions is out of range' });
  });

  it('whose mean would leave the clip is quarantined: a small sum of weights multiplies no step', () => {
    const { weightScale, clip, level } = { ...descriptor, level: 1024 };
    const meanOf = (weights: number, coordinate: number) => {
      const total = new Uint32Array(6 + descriptor.dimension);
      total.set([3, 0, 0, 0, weights, 30, coordinate >>> 0]);
      return judgeSum({ ...descriptor, level }, total, 3).kind;
    };
    const whole = 3 * level * clip;
    expect(meanOf(3 * weightScale, whole)).toBe('good');
    // A liar that takes nine tenths of the weight away leaves a tenth of the room, and a rounding for each update.
    const tenth = Math.ceil(whole / 10) + 3;
    const weights = Math.floor((3 * weightScale) / 10);
    expect([meanOf(weights, whole), meanOf(weights, -whole)]).toEqual(['quarantine', 'quarantine']);
    expect([meanOf(weights, tenth), meanOf(weights, tenth + 1), meanOf(weights, -tenth - 1)]).toEqual([
      'good',
      'quarantine',
      'quarantine',
    ]);
  });

  it('of honest updates is good for all sizes and weights', () => {
    const words = seededWords(1);
    const unit = (): number => {
      const word = new Uint32Array(1);
      words(word);
      return (word[0] as number) / 2 ** 32;
    };
    const task = { ...descriptor, level: 1000, clip: 0.37 };
    for (let round = 0; round < 50; round++) {
      const total = new Uint32Array(5 + task.dimension);
      for (let n = 0; n < 3; n++) {
        const delta = new Float32Array(task.dimension).map(() => (unit() < 0.5 ? -9 : 9)); // clipped
        const exampleWeight = Math.max(1e-6, unit() ** 8);
        const randomWords = (drawn: Uint32Array) => void drawn.fill(unit() < 0.5 ? 0 : 0xffff_ffff);
        const built = buildInput(task, { delta, trainedOn: task.version, exampleWeight, randomWords });
        // A device refuses an update that its weight makes vanish; there is nothing to sum then.
        if (built.kind === 'refused') n--;
        else for (const [k, word] of built.vector.entries()) total[k] = (total[k] as number) + word;
      }
      expect(judgeSum(task, total, 3).kind).toBe('good');
    }
  });

  it('with its first coordinate out of range is quarantined', () => {
    expect(judged(3, 0, 0, 0, 3, 4)).toEqual({ kind: 'quarantine', why: 'coordinate 0 is out of range' });
    expect(judged(3, 0, 0, 0, 3, 3).kind).toBe('good');
  });
});
