/** A deposit gets a slot if it is whole, signed, of an enrolled device, in time and the first of its user. */
import {
  acceptDeposit,
  type Certificate,
  type Ctx,
  certificateCodec,
  type Deposit,
  type DepositRoot,
  depositRootOf,
  depositStatementCodec,
  endorse,
  extendLeases,
  joinTagOf,
  millis,
  openSecureBuffer,
  type SecureBuffer,
  tickBuffer,
} from '@basa/protocol';
import { reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

/** A buffer of three with one deposit in it, and ways to send it with other words. */
function atDeposit() {
  const world = nodeFederation({ bufferSize: 3, dimension: 4 });
  const device = world.device();
  device.contribute('deposit');
  const buffer = world.server.buffer(device.ctx);
  const empty = openSecureBuffer(world.server.ports.suite, buffer);
  const [deposit] = world.server.deposits(device.ctx) as [Deposit];
  const { suite } = world.server.ports;
  const resigned = (change: Partial<Deposit>): Deposit => {
    const body = { ...deposit, ...change };
    const joinTag = joinTagOf(suite, { ctx: body.ctx, user: device.user, nonce: body.nonce });
    const statement = depositStatementCodec.statement({ ctx: body.ctx, joinTag, root: body.root });
    return { ...body, signature: device.signer.sign(statement) };
  };
  const certified = (change: Partial<Certificate>): Certificate => {
    const body = { ...deposit.certificate, ...change };
    return endorse(certificateCodec, world.policy, world.authority.ports.signer, body);
  };
  const sent = (to: SecureBuffer, message: Deposit, now = world.now) =>
    acceptDeposit(world.server.ports, to, message, now);
  return { world, device, buffer, empty, deposit, resigned, certified, sent };
}

describe('a deposit', () => {
  it('sent again gets the stored ticket, and nothing is written', () => {
    const { buffer, deposit, sent } = atDeposit();
    expect(sent(buffer, deposit)).toMatchObject({ records: [], answer: buffer.slots[0]?.ticket ?? {} });
  });

  it('of the same user with another nonce or other seeds is refused as a second deposit', () => {
    const { world, buffer, deposit, resigned, sent } = atDeposit();
    const entries = [...deposit.entries].reverse();
    const root = depositRootOf(world.server.ports.suite, entries);
    expect(reasonOf(sent(buffer, resigned({ nonce: new Uint8Array(16) })).answer)).toBe('second-deposit');
    expect(reasonOf(sent(buffer, resigned({ entries, root })).answer)).toBe('second-deposit');
  });

  const wrong: [string, string, (scene: ReturnType<typeof atDeposit>) => Deposit][] = [
    ['for another buffer', 'buffer-unknown', ({ resigned }) => resigned({ ctx: new Uint8Array(32) as Ctx })],
    [
      'with a seed too few',
      'root-mismatch',
      ({ world, deposit, resigned }) => {
        const entries = deposit.entries.slice(1);
        return resigned({ entries, root: depositRootOf(world.server.ports.suite, entries) });
      },
    ],
    ['under another root', 'root-mismatch', ({ resigned }) => resigned({ root: new Uint8Array(32) as DepositRoot })],
    [
      'that its device did not sign',
      'signature-invalid',
      ({ deposit }) => ({ ...deposit, signature: new Uint8Array(64) }),
    ],
    [
      'of a device enrolled elsewhere',
      'certificate-invalid',
      ({ certified, resigned }) => resigned({ certificate: certified({ task: new Uint8Array(32) as never }) }),
    ],
    [
      'with a certificate the authority did not sign',
      'certificate-invalid',
      ({ deposit, resigned }) =>
        resigned({
          certificate: {
            ...deposit.certificate,
            endorsements: [{ authority: 0, signature: new Uint8Array(64) }],
          },
        }),
    ],
  ];
  it.each(wrong)('%s is refused (%s), and says so', (_, reason, message) => {
    const scene = atDeposit();
    const step = scene.sent(scene.empty, message(scene));
    expect(step.answer).toMatchObject({ kind: 'refused', reason });
    expect(step.records).toEqual([]);
    expect(step.events).toEqual([{ kind: 'refused', by: 'server', step: 'deposit', reason }]);
  });

  it('is in time before the buffer expires, and as long as the certificate holds', () => {
    const { world, empty, deposit, resigned, certified, sent } = atDeposit();
    const { expiry } = empty.descriptor;
    expect(sent(empty, deposit, millis(expiry - 1)).records).toHaveLength(1);
    expect(reasonOf(sent(empty, deposit, expiry).answer)).toBe('buffer-not-open');
    const ending = resigned({ certificate: certified({ notAfter: world.now }) });
    expect(sent(empty, ending, world.now).records).toHaveLength(1);
    expect(reasonOf(sent(empty, ending, millis(world.now + 1)).answer)).toBe('certificate-expired');
  });

  it('is refused by a frozen or full buffer', () => {
    const { world, buffer, empty, deposit, sent } = atDeposit();
    expect(reasonOf(sent({ ...empty, status: 'frozen' }, deposit).answer)).toBe('buffer-not-open');
    for (const other of [world.device(), world.device()]) other.contribute('deposit');
    const full = world.server.buffer(buffer.ctx);
    const others = full.slots.map((slot) => ({ ...slot, user: new Uint8Array(32) as typeof slot.user }));
    expect(reasonOf(sent({ ...full, slots: others }, deposit).answer)).toBe('buffer-full');
  });
});

describe('a seat', () => {
  it('is held by its device until it lapses, in its buffer, and by no other', () => {
    const { world, buffer } = atDeposit();
    const [seated, stranger] = [world.device(), world.device()];
    seated.contribute('seat');
    const holds = ({ certificate }: typeof seated, ctx: Uint8Array, now = world.now) =>
      world.server.holdsSeat(certificate, ctx, now);
    expect(holds(seated, buffer.ctx)).toBe(true);
    expect(holds(seated, buffer.ctx, millis(world.now + world.server.seatMs))).toBe(false);
    expect(holds(seated, new Uint8Array(32))).toBe(false);
    expect(holds(stranger, buffer.ctx)).toBe(false);
  });
});

describe('a lease', () => {
  it('is extended by the time the server was down, and this is recorded', () => {
    const { buffer } = atDeposit();
    const deadline = buffer.slots[0]?.ticket.deadline ?? 0;
    const step = extendLeases(buffer, 100);
    expect(step.records).toEqual([{ kind: 'extended', byMs: 100 }]);
    expect(tickBuffer(step.state, millis(deadline)).answer).toEqual({ nextAt: deadline + 101 });
    expect(tickBuffer(step.state, millis(deadline + 100)).records).toEqual([]);
    expect(tickBuffer(step.state, millis(deadline + 101)).records).toEqual([{ kind: 'dropped', slot: 0 }]);
  });

  it('ends with the freeze: no user is dropped from a frozen buffer', () => {
    const { buffer } = atDeposit();
    const deadline = buffer.slots[0]?.ticket.deadline ?? 0;
    expect(tickBuffer({ ...buffer, status: 'frozen' }, millis(deadline + 1))).toMatchObject({
      records: [],
      answer: { nextAt: undefined },
    });
  });
});
