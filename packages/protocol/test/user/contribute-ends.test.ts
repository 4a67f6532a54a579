/** The end of a contribution after a refusal, or if the device's store differs from what it wrote. */
import {
  authorityMessages,
  type ContributeAnswer,
  type ContributeEnd,
  type ContributeRequest,
  contributeSteps,
  doSealing,
  refused,
} from '@basa/protocol';
import { type FederationDevice, granted } from '@basa/simulator';
import { atDeposit } from '@basa/testkit/core/at-deposit.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

type Answers = Partial<Record<ContributeRequest['kind'], ContributeAnswer>>;

/** The end of the steps with these answers; signatures and masks are the device's, records go nowhere. */
function endWith(
  device: FederationDevice,
  answers: Answers,
  isMasked = true,
): { end: ContributeEnd; durable: readonly string[]; isResumed?: boolean } {
  const steps = contributeSteps(device.ports, device);
  const durable: string[] = [];
  let isResumed: boolean | undefined;
  let next = steps.next();
  while (!next.done) {
    const request = next.value;
    if (request.kind === 'durable') durable.push(...request.step.records.map(({ kind }) => kind));
    if (request.kind === 'upload') ({ isResumed } = request);
    if (request.kind === 'mask' && isMasked) device.world.mask(request.masking.vector, request.masking.plan);
    const sealed = request.kind === 'sealing' ? doSealing(device.ports.sealing, request.work) : undefined;
    const own = request.kind === 'sign' ? device.signer.sign(request.statement) : undefined;
    next = steps.next(answers[request.kind] ?? own ?? sealed);
  }
  return { end: next.value, durable, ...(isResumed !== undefined && { isResumed }) };
}

function frozenDevice(): FederationDevice {
  const device = nodeFederation({ bufferSize: 3, dimension: 6 }).device();
  device.contribute('key');
  device.receiveKeyAndFreeze('upload');
  device.restart();
  return device;
}

describe('a contribution', () => {
  it('that is refused a slot or a key leaves the buffer, durably', () => {
    const { device } = atDeposit();
    expect(endWith(device, { deposit: refused('buffer-over') })).toEqual({
      end: { kind: 'left', reason: 'buffer-over' },
      durable: ['abandoned'],
    });
    const slotted = nodeFederation({ bufferSize: 3, dimension: 6 }).device();
    slotted.contribute('deposit');
    expect(endWith(slotted, { key: refused('buffer-over') })).toEqual({
      end: { kind: 'left', reason: 'buffer-over' },
      durable: ['abandoned'],
    });
  });

  it('whose store holds another input before anything was masked leaves the buffer', () => {
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const device = world.device();
    device.contribute('deposit');
    const answer = authorityMessages(3).keyAnswer.decode(granted(world.authority.issueKey(device.keyRequestBytes())));
    const other = (device.input as Uint32Array).map((word) => word ^ 1);
    expect(endWith(device, { key: [{ authority: 0, answer }], input: other })).toEqual({
      end: { kind: 'left', reason: 'delta-committed' },
      durable: ['abandoned'],
    });
  });

  it('that is told a slot which is not its own leaves with the reason, which is on disk already', () => {
    const { device, answer } = atDeposit();
    const { end, durable } = endWith(device, { deposit: { ...answer, inbox: [] } });
    expect(end).toEqual({ kind: 'left', reason: 'inbox-incomplete' });
    expect(durable).toEqual(['abandoned']);
  });

  it('whose upload is refused is held: only the outcome frees the update', () => {
    const device = frozenDevice();
    expect(endWith(device, { input: device.input as Uint32Array, upload: refused('slot-dropped') })).toMatchObject({
      end: { kind: 'held', reason: 'slot-dropped' },
      durable: [],
    });
  });

  it('whose store holds another input than the one it fixed is damaged, and sends nothing', () => {
    const device = frozenDevice();
    const other = (device.input as Uint32Array).map((word) => word ^ 1);
    expect(endWith(device, { input: other }).end).toEqual({
      kind: 'damaged',
      problem: 'the store holds another input than the one that was fixed',
    });
  });

  it('whose upload does not come out as it was frozen is damaged, and sends nothing', () => {
    const device = frozenDevice();
    const isMasked = false;
    expect(endWith(device, { input: device.input as Uint32Array }, isMasked).end).toMatchObject({
      kind: 'damaged',
      problem: expect.stringContaining('does not come out'),
    });
  });

  it('says whether bytes of an upload may have left before', () => {
    const device = frozenDevice();
    const again = endWith(device, { input: device.input as Uint32Array, upload: refused('slot-dropped') });
    const world = nodeFederation({ bufferSize: 3, dimension: 6 });
    const fresh = world.device();
    fresh.contribute('deposit');
    const answer = authorityMessages(3).keyAnswer.decode(granted(world.authority.issueKey(fresh.keyRequestBytes())));
    const key = [{ authority: 0, answer }];
    const first = endWith(fresh, { key, input: fresh.input as Uint32Array, upload: refused('slot-dropped') });
    expect([again.isResumed, first.isResumed]).toEqual([true, false]);
  });

  it('whose session is over does not go on', () => {
    const device = nodeFederation({ bufferSize: 3, dimension: 6 }).device();
    device.contribute();
    expect(() => endWith(device, {})).toThrow('acknowledged');
  });
});
