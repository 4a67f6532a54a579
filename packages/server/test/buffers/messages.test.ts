/** The largest messages that a policy allows fit what the server reads of them. */
import {
  type Certificate,
  type Ctx,
  type Deposit,
  type DepositRoot,
  ENGINE,
  MAX_AUTHORITIES,
  MAX_SLOTS,
  millis,
  type TaskId,
} from '@basa/protocol';
import { expect, it } from 'vitest';
import { depositBytes, knownSealedBytes, MAX_DEPOSIT_BYTES, messagesOf } from '../../src/buffers/messages.ts';

const zeros = <Bytes extends Uint8Array>(length: number): Bytes => new Uint8Array(length) as Bytes;
const several = <Item>(count: number, make: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => make(n));

it('a deposit for 1024 slots of 16 authorities can be read, and little more', () => {
  const parts = several(MAX_AUTHORITIES, (authority) => ({ authority, offer: zeros(16), sealingKey: zeros(64) }));
  const sealed = zeros(knownSealedBytes(ENGINE.slotKeys, parts.length));
  const certificate: Certificate = {
    task: zeros<TaskId>(32),
    deviceKey: zeros(32),
    issuedAt: millis(0),
    notAfter: millis(1),
    endorsements: several(MAX_AUTHORITIES, (authority) => ({ authority, signature: zeros(64) })),
  };
  const deposit: Deposit = {
    certificate,
    ctx: zeros<Ctx>(32),
    nonce: zeros(16),
    root: zeros<DepositRoot>(32),
    entries: several(MAX_SLOTS - 1, () => ({ commitment: zeros(32), sealed })),
    signature: zeros(64),
  };
  const codecs = messagesOf({ engine: ENGINE.slotKeys, bufferSize: MAX_SLOTS, parts });
  const { length } = codecs.deposit.encode(deposit);
  expect(length).toBeLessThanOrEqual(MAX_DEPOSIT_BYTES);
  expect(length).toBeGreaterThan(0.9 * MAX_DEPOSIT_BYTES);
  expect(depositBytes({ engine: ENGINE.slotKeys, bufferSize: MAX_SLOTS, parts })).toBe(MAX_DEPOSIT_BYTES);
});
