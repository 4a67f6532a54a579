/** Every word of an upload's header is held to the slot it names, before anything of its body is read. */
import {
  acceptUpload,
  authorityMessages,
  endorse,
  type FrozenSession,
  judgeHeader,
  millis,
  type Receipt,
  receiptCodec,
  type Slot,
  tickBuffer,
  type UploadHeader,
  uploadLayout,
} from '@basa/protocol';
import { LEASE_MS, reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const { uploadHeader } = authorityMessages(3);

/** The second of two devices has its upload ready; a third slot is free. */
function atUpload() {
  const world = nodeFederation({ bufferSize: 3, dimension: 4 });
  const [first, device] = [world.device(), world.device()];
  first.contribute('deposit');
  device.contribute('key');
  device.receiveKeyAndFreeze('upload');
  const { header } = device.session as FrozenSession;
  const buffer = () => world.server.buffer(device.ctx);
  const signed = (change: Partial<UploadHeader>): UploadHeader => {
    const body = { ...header, ...change };
    return { ...body, signature: device.signer.sign(uploadHeader.statement(body)) };
  };
  const receipt = (change: Partial<Receipt>): Receipt => {
    const body = { ...header.receipt, ...change };
    return endorse(receiptCodec, world.policy, world.authority.ports.signer, body);
  };
  const judged = (sent: UploadHeader, now = world.now) => judgeHeader(world.server.ports, buffer(), sent, now);
  return { world, device, buffer, header, signed, receipt, judged };
}

const other = <Bytes extends Uint8Array>(bytes: Bytes): Bytes => bytes.map((byte, n) => (n ? byte : byte ^ 1)) as Bytes;

describe('a header', () => {
  it('that is right in every word is expected, up to the last moment of its lease', () => {
    const { signed, judged, buffer } = atUpload();
    const deadline = buffer().slots[1]?.ticket.deadline ?? 0;
    expect(judged(signed({}), millis(deadline))).toEqual({ kind: 'expected' });
    expect(reasonOf(judged(signed({}), millis(deadline + 1)))).toBe('lease-over');
  });

  const wrong: [string, string, (scene: ReturnType<typeof atUpload>) => Partial<UploadHeader>][] = [
    ['another buffer', 'buffer-unknown', ({ header }) => ({ ctx: other(header.ctx) })],
    ['an unused slot', 'slot-unknown', () => ({ slot: 2 as Slot })],
    ['a tag that is not of the slot', 'view-mismatch', ({ header }) => ({ joinTag: other(header.joinTag) })],
    ['another history', 'view-mismatch', ({ header }) => ({ view: other(header.view) })],
    ['its own slot as void', 'slot-unknown', () => ({ voids: [1 as Slot] })],
    ['a receipt of another slot', 'receipt-invalid', ({ receipt }) => ({ receipt: receipt({ slot: 0 as Slot }) })],
    [
      'a receipt that is not of the authority',
      'receipt-invalid',
      ({ header }) => ({
        receipt: { ...header.receipt, endorsements: [{ authority: 0, signature: new Uint8Array(64) }] },
      }),
    ],
  ];
  it.each(wrong)('that names %s is refused (%s)', (_, reason, change) => {
    const scene = atUpload();
    expect(reasonOf(scene.judged(scene.signed(change(scene))))).toBe(reason);
  });

  it('that its device did not sign is refused', () => {
    const { signed, judged } = atUpload();
    expect(reasonOf(judged({ ...signed({}), signature: new Uint8Array(64) }))).toBe('signature-invalid');
  });

  it('of a slot that has its upload is the same one, or refused', () => {
    const { world, device, signed, judged, buffer, header } = atUpload();
    world.server.upload(device.uploadBytes());
    expect(judged(signed({}))).toEqual({ kind: 'accepted-before' });
    expect(judged(signed({ bodyHash: other(header.bodyHash) }))).toMatchObject({
      reason: 'upload-differs',
      slots: [1],
    });
    const { sealing } = world.sealings;
    const { bodyBytes } = uploadLayout(buffer().descriptor, header, sealing);
    const body = { hash: header.bodyHash, bytes: bodyBytes, isCanonical: true };
    const again = acceptUpload(world.server.ports, buffer(), signed({}), body, sealing, world.now);
    expect(again).toMatchObject({ records: [], answer: { kind: 'accepted' } });
    const refusal = acceptUpload(
      world.server.ports,
      buffer(),
      { ...signed({}), signature: new Uint8Array(64) },
      body,
      sealing,
      world.now,
    );
    expect(refusal.answer).toMatchObject({ reason: 'signature-invalid' });
    expect(refusal.events).toEqual([{ kind: 'refused', by: 'server', step: 'upload', reason: 'signature-invalid' }]);
  });
});

describe('a tick', () => {
  it('drops no user early, and names the end of the next lease', () => {
    const { world, buffer } = atUpload();
    const deadline = buffer().slots[0]?.ticket.deadline ?? 0;
    expect(tickBuffer(buffer(), world.now)).toMatchObject({ records: [], answer: { nextAt: deadline + 1 } });
    expect(tickBuffer(buffer(), millis(deadline)).records).toEqual([]);
    expect(tickBuffer(buffer(), millis(deadline + 1)).records).toHaveLength(2);
  });

  it('names the end of the first of several leases', () => {
    const { world, buffer } = atUpload();
    world.now = millis(world.now + LEASE_MS / 2);
    world.device().contribute('deposit');
    const deadlines = buffer().slots.map(({ ticket }): number => ticket.deadline);
    expect(new Set(deadlines).size).toBe(2);
    expect(tickBuffer(buffer(), world.now).answer).toEqual({ nextAt: Math.min(...deadlines) + 1 });
  });

  it('waits only for users who still owe an upload', () => {
    const { world, device, buffer } = atUpload();
    world.now = millis(world.now + LEASE_MS / 2);
    const late = world.device();
    late.contribute('deposit');
    world.server.upload(device.uploadBytes());
    const [early = 0, , last = 0] = buffer().slots.map(({ ticket }): number => ticket.deadline);
    expect(early).toBeLessThan(last);
    const step = tickBuffer(buffer(), millis(early + 1));
    expect(step.records).toEqual([{ kind: 'dropped', slot: 0 }]);
    expect(step.answer).toEqual({ nextAt: last + 1 });
    expect(step.events).toMatchObject([{ kind: 'slot-dropped', slot: 0, why: 'lease-over' }]);
    expect(tickBuffer(step.state, millis(last + 1)).answer).toEqual({ nextAt: undefined });
  });
});
