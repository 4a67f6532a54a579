/** Tasks, buffers and slots that tests of stores write. */
import {
  type BufferSlot,
  type Ctx,
  ctxOf,
  type DescribedBuffer,
  type Descriptor,
  type JoinTag,
  millis,
  POLICY_DEFAULTS,
  type Slot,
  type TaskId,
  type TaskPolicy,
  type UploadHeader,
  type UserId,
  type View,
  withPolicy,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import type { BufferChange } from '../../src/store/buffers.ts';

export const bytes = (value: number, length = 32): Uint8Array => new Uint8Array(length).fill(value);
export const task = bytes(1) as TaskId;
/** After every time that a test asks at. */
const LATER: number = 10 ** 13;
export const userOf = (n: number): UserId => bytes(n + 40) as UserId;

export const policy: TaskPolicy = {
  ...POLICY_DEFAULTS,
  name: bytes(1, 4),
  authorities: [bytes(6)],
  engine: 1,
  bufferSize: 4,
  minimum: 3,
  dimension: 10,
  modulus: { kind: 'ring', bits: 32 },
  level: 1024,
  clip: 1,
  staleness: { kind: 'constant' },
  maxStaleness: 10,
  manifestHash: bytes(3),
  serverKey: bytes(5),
  uploadLeaseMs: 1000,
  openMs: 10_000,
  closeMs: 10_000,
};

function descriptorOf(id: number): Descriptor {
  return withPolicy(policy, {
    task,
    parts: [{ authority: 0, offer: bytes(id, 16), sealingKey: bytes(4, 48) }],
    version: 0,
    modelHash: bytes(2),
    expiry: millis(10_000),
    endorsements: [{ authority: 0, signature: bytes(7, 64) }],
  });
}

export function slotOf(ctx: Ctx, slot: number): BufferSlot {
  const names = { ctx, joinTag: bytes(slot + 20) as JoinTag, root: bytes(slot + 30) as BufferSlot['ticket']['root'] };
  return {
    user: userOf(slot),
    deviceKey: bytes(slot + 50),
    nonce: bytes(slot, 16),
    ticket: { ...names, slot: slot as Slot, view: bytes(9) as View, deadline: millis(99), signature: bytes(8, 64) },
    depositSignature: bytes(10, 64),
    status: 'assigned',
    graceMs: 0,
  };
}

export function headerOf(ctx: Ctx, slot: number): UploadHeader {
  const { ticket } = slotOf(ctx, slot);
  const names = { ctx, slot: ticket.slot, joinTag: ticket.joinTag, view: ticket.view };
  const signature = bytes(11, 64);
  const receipt = { ...names, root: ticket.root, endorsements: [{ authority: 0, signature }] };
  return { ...names, selfName: new Uint8Array(), bodyHash: bytes(14), voids: [], receipt, signature };
}

/** Users differ from slot to slot, and leases end when nobody looks any more. */
export function depositOf(
  slot: number,
  change: Partial<NonNullable<BufferChange['deposit']>> = {},
): NonNullable<BufferChange['deposit']> {
  return { slot: slot as Slot, task, user: userOf(slot), until: LATER, bytes: bytes(slot), outbox: [], ...change };
}

/** The buffer of this number with its name. */
export function buffersOf(id: number, change: Partial<Descriptor>): DescribedBuffer & { readonly ctx: Ctx } {
  const descriptor = { ...descriptorOf(id), ...change };
  return { ctx: ctxOf(nodeSuite, descriptor), descriptor, slotKeys: bytes(id, 32 * 5) };
}
