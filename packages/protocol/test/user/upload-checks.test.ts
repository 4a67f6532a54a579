/** An update that a user has given away goes nowhere else, whatever it is told. */
import {
  abandonSession,
  authorityMessages,
  type Ctx,
  freezeUpload,
  judgeOutcome,
  maskInput,
  type Outcome,
  type OutcomeOf,
  outcomeCodec,
  type PreparedSession,
  packMasked,
  prepareDeposit,
  receiveKey,
  releaseSession,
  restoreLedger,
  type UserSession,
} from '@basa/protocol';
import { reasonOf } from '@basa/simulator';
import { atDeposit } from '@basa/testkit/core/at-deposit.ts';
import { atSeveralCloses, authorityOf } from '@basa/testkit/core/several.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('an upload', () => {
  function frozenDevice() {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const device = world.device();
    device.contribute('key');
    device.receiveKeyAndFreeze('upload');
    return { world, device };
  }

  it('is made of the same bytes after every restart', () => {
    const { device } = frozenDevice();
    const bytes = device.uploadBytes();
    device.restart();
    expect(device.uploadBytes()).toEqual(bytes);
  });

  it('cannot be made of another input than the one fixed before the deposit', () => {
    const { device } = frozenDevice();
    const other = (device.input as Uint32Array).slice();
    other[6] = 77;
    expect(reasonOf(maskInput(device.ports, device.session as UserSession, other))).toBe('delta-committed');
  });

  it('of an update that was given to another buffer, or to another user of this one, is refused', () => {
    const { world, device } = frozenDevice();
    const twin = world.device();
    twin.contribute('deposit');
    const answer = world.authority.issueKey(twin.keyRequestBytes()) as Uint8Array;
    const answers = [{ authority: 0, answer: authorityMessages(3).keyAnswer.decode(answer) }];
    const draft = receiveKey(twin.ports, twin.session as UserSession, answers);
    if (draft.kind === 'refused' || twin.session?.step !== 'slotted') throw new Error('no draft');
    const masked = packMasked(twin.ports, twin.session, twin.input as Uint32Array);
    const { ctx, joinTag, deltaId } = twin.session.member;
    const other = (device.session as UserSession).member.joinTag;
    for (const given of [
      { ctx: new Uint8Array(32) as Ctx, joinTag, version: 0, epochs: [] },
      { ctx, joinTag: other, version: 0, epochs: [] },
    ]) {
      const ledger = restoreLedger([{ kind: 'committed', deltaId, ...given }]);
      expect(reasonOf(freezeUpload(twin.ports, { ledger, session: twin.session }, draft, masked).answer)).toBe(
        'delta-committed',
      );
    }
  });

  it('cannot be abandoned once its bytes may have left', () => {
    const { device } = frozenDevice();
    expect(reasonOf(abandonSession(device.ports, device, 'abandoned').answer)).toBe('wrong-step');
  });
});

describe('the ledger of a device', () => {
  it('lets it enter a buffer once, ever, also after it left', () => {
    const { device } = atDeposit();
    const { descriptor, slotKeys } = (device.session as PreparedSession).member;
    const left = abandonSession(device.ports, device, 'inbox-proof');
    expect(left.state.session?.step).toBe('abandoned');
    const input = {
      descriptor: descriptor as never,
      slotKeys,
      certificate: device.certificate,
      deltaId: device.deltaId,
      inputDigest: new Uint8Array(32),
    };
    expect(reasonOf(prepareDeposit(device.ports, device, input).answer)).toBe('abandoned');
  });

  it('frees an update only by the outcome, is rebuilt from its records, and ends the session', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const [first, second, left] = [world.device(), world.device(), world.device()];
    first.contribute();
    second.contribute();
    left.contribute('key');
    left.receiveKeyAndFreeze('upload');
    expect(reasonOf(left.release())).toBe('outcome-undecided');
    world.server.finish(left.ctx, 'stalled');
    expect(first.release()).toEqual({ kind: 'included' });
    const { ctx, joinTag } = (left.session as UserSession).member;
    const records = [
      { kind: 'entered', ctx },
      { kind: 'committed', deltaId: left.deltaId, ctx, joinTag, version: 0, epochs: [] },
    ] as const;
    expect(restoreLedger(records)).toEqual(left.ledger);
    expect(left.release()).toEqual({ kind: 'free' });
    expect(restoreLedger([...records, { kind: 'freed', deltaId: left.deltaId }])).toEqual(left.ledger);
    expect(releaseSession(left.ports, left).state.session?.step).toBe('released');
  });
});

describe('an outcome', () => {
  function outcomes() {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const left = world.device();
    left.contribute('key');
    left.receiveKeyAndFreeze('upload');
    const commitment = { ctx: left.ctx, joinTag: (left.session as UserSession).member.joinTag };
    const judged = (outcome: Outcome) =>
      judgeOutcome({ ...left.ports, council: world.policy }, commitment, [{ authority: 0, outcome }]);
    return { world, left, judged };
  }

  it('of a server that says "aborted" frees nothing', () => {
    const { world, left, judged } = outcomes();
    const body = { ctx: left.ctx, status: 'aborted' as const, accepted: [] };
    const lie = { ...body, signature: world.server.ports.signer.sign(outcomeCodec.statement(body)) };
    expect(reasonOf(judged(lie))).toBe('outcome-invalid');
  });

  it('that is forged beside a good one is distinguished from missing decisions', () => {
    const { world, ctx } = atSeveralCloses();
    const { suite } = world.authority.ports;
    const good = [0, 1].map((authority) => ({ authority, outcome: authorityOf(world, authority).outcome(ctx) }));
    const judged = (answers: readonly OutcomeOf[]) =>
      judgeOutcome({ suite, council: world.policy }, { ctx, joinTag: new Uint8Array(32) as never }, answers);
    expect(reasonOf(judged(good))).toBe('outcome-undecided');
    const forged = good.map((one, n) =>
      n === 1 ? { ...one, outcome: { ...one.outcome, status: 'aborted' as const } } : one,
    );
    expect(reasonOf(judged(forged))).toBe('outcome-invalid');
  });

  it('of another buffer frees nothing', () => {
    const { world, judged } = outcomes();
    const other = world.authority.outcome(new Uint8Array(32) as never);
    expect(other.status).toBe('unknown');
    expect(reasonOf(judged(other))).toBe('outcome-invalid');
  });
});
