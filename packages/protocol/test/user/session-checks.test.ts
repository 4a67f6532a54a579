/** The records of a user's session, the secrets it forgets for good, and the points at which it must not continue. */
import {
  acknowledgeUpload,
  EMPTY_LEDGER,
  evolveSession,
  freezeUpload,
  maskInput,
  outcomeCodec,
  receiveKey,
  receiveSlot,
  releaseDelta,
  releaseSession,
  type UserSession,
  wipeSession,
} from '@basa/protocol';
import { granted, reasonOf } from '@basa/simulator';
import { atDeposit } from '@basa/testkit/core/at-deposit.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

/** One device of a buffer of two, at each step of its session. */
function everyStep() {
  const world = nodeFederation({ bufferSize: 2, dimension: 4 });
  const other = world.device();
  const device = world.device();
  other.contribute();
  device.contribute('deposit');
  const slotted = device.session as UserSession;
  device.receiveKeyAndFreeze('upload');
  const frozen = device.session as UserSession;
  const acknowledged = acknowledgeUpload(device.ports, device).state.session as UserSession;
  const released = releaseSession(device.ports, device).state.session as UserSession;
  return { world, device, slotted, frozen, acknowledged, released };
}

describe('the ledger', () => {
  const signed = (
    { world, device }: ReturnType<typeof everyStep>,
    body: Pick<Parameters<typeof outcomeCodec.statement>[0], 'status' | 'accepted'>,
  ) => {
    const whole = { ctx: device.ctx, ...body };
    const signature = world.authority.ports.signer.sign(outcomeCodec.statement(whole));
    return [{ authority: 0, outcome: { ...whole, signature } }];
  };

  it('records that an update is free, and records nothing if it was never sent or is in a sum', () => {
    const scene = everyStep();
    const { world, device } = scene;
    const { deltaId } = device;
    const ports = { ...device.ports, council: world.policy };
    const aborted = signed(scene, { status: 'aborted', accepted: [] });
    expect(releaseDelta(ports, device, deltaId, aborted)).toMatchObject({
      records: [{ kind: 'freed', deltaId }],
      answer: { kind: 'free' },
    });
    expect(releaseDelta(ports, { ...device, ledger: EMPTY_LEDGER }, deltaId, aborted)).toMatchObject({
      records: [],
      answer: { kind: 'free' },
    });
    const { joinTag } = (device.session as UserSession).member;
    const included = signed(scene, { status: 'closed', accepted: [{ slot: 1 as never, joinTag }] });
    expect(releaseDelta(ports, device, deltaId, included)).toMatchObject({ records: [], answer: { kind: 'included' } });
    const unknown = signed(scene, { status: 'unknown', accepted: [] });
    const no = releaseDelta(ports, device, deltaId, unknown);
    expect(no.events).toEqual([{ kind: 'refused', by: 'user', step: 'outcome', reason: 'outcome-undecided' }]);
  });
});

describe('a session', () => {
  it('wipes every secret of its step, and has no secret to wipe once it is over', () => {
    const { device: waiting } = atDeposit();
    const prepared = waiting.session as UserSession;
    const { slotted, frozen, acknowledged } = everyStep();
    for (const session of [prepared, slotted, frozen]) {
      if (session.step !== 'prepared' && session.step !== 'slotted' && session.step !== 'frozen')
        throw new Error('over');
      const own = session.edges;
      const rest =
        session.step === 'slotted'
          ? [session.ephemeralSecret]
          : session.step === 'frozen'
            ? [session.self, ...session.earlier]
            : [];
      expect(own.length).toBeGreaterThan(0);
      if (session.step === 'slotted') expect(rest).toHaveLength(1);
      if (session.step === 'frozen') expect(rest.length).toBeGreaterThan(1);
      wipeSession(session);
      for (const secret of [...own, ...rest]) expect(() => secret.reveal()).toThrow();
    }
    expect(() => wipeSession(acknowledged)).not.toThrow();
  });

  it('starts with a deposit, and with nothing else', () => {
    const { device } = everyStep();
    expect(() => evolveSession(device.ports.suite, undefined, { kind: 'acknowledged' })).toThrow('does not start');
  });

  it('takes no slot, no key and no mask out of turn', () => {
    const { device: waiting, answer } = atDeposit();
    const { device, slotted, frozen, acknowledged, released } = everyStep();
    const prepared = waiting.session as UserSession;
    const { ledger } = device;
    const input = device.input as Uint32Array;
    expect(reasonOf(receiveSlot(device.ports, { ledger, session: frozen }, answer).answer)).toBe('wrong-step');
    expect(reasonOf(receiveKey(device.ports, prepared, {} as never))).toBe('wrong-step');
    for (const session of [prepared, slotted, acknowledged])
      expect(reasonOf(maskInput(device.ports, session, input))).toBe('wrong-step');
    expect(
      reasonOf(freezeUpload(device.ports, { ledger, session: prepared }, {} as never, input as never).answer),
    ).toBe('wrong-step');
    for (const session of [prepared, slotted, released])
      expect(reasonOf(acknowledgeUpload(device.ports, { ledger, session }).answer)).toBe('wrong-step');
    for (const session of [prepared, slotted])
      expect(reasonOf(releaseSession(device.ports, { ledger, session }).answer)).toBe('wrong-step');
  });

  it('is acknowledged or released once', () => {
    const { device, acknowledged, released } = everyStep();
    const { ledger } = device;
    expect(acknowledgeUpload(device.ports, { ledger, session: acknowledged })).toMatchObject({
      records: [],
      answer: { kind: 'acknowledged' },
    });
    expect(releaseSession(device.ports, { ledger, session: acknowledged }).records).toEqual([{ kind: 'released' }]);
    expect(releaseSession(device.ports, { ledger, session: released })).toMatchObject({
      records: [],
      answer: { kind: 'released' },
    });
  });

  it('asks for the same key if it gets the same slot again, and refuses another slot', () => {
    const { device, answer } = atDeposit();
    const first = receiveSlot(device.ports, device, answer);
    const again = receiveSlot(device.ports, first.state, answer);
    expect(again.records).toEqual([]);
    expect(again.answer).toEqual(granted(first.answer));
    const other = { ...answer, ticket: { ...answer.ticket, signature: new Uint8Array(64) } };
    expect(reasonOf(receiveSlot(device.ports, first.state, other).answer)).toBe('ticket-not-mine');
  });
});
