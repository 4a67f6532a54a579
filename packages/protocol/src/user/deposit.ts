/** The user's side of the deposit: fresh seeds, sealed to the slots to come, fixed by one root. */
import { SEED_BYTES } from '@basa/masking';
import type { Ctx, JoinTag, Slot } from '../wire/brands.ts';
import { commitmentOf, edgeAttribute, joinTagOf, sealingContext, selfAttribute } from '../wire/naming.ts';
import type { Certificate } from '../wire/statements.ts';
import { ctxOf, userIdOf } from '../wire/statements.ts';
import { declined } from '../wire/transition.ts';
import type { Deposit, SealedSeed } from '../wire/user-messages.ts';
import { depositStatementCodec } from '../wire/user-messages.ts';
import type { Device, DeviceStep } from './device.ts';
import { restoreDevice } from './device.ts';
import { entryProblem } from './ledger.ts';
import type { CheckedDescriptor } from './seat.ts';
import type { PreparedSession, UserPorts, UserRecord } from './session.ts';

export interface DepositInput {
  /** What `checkDescriptor` let through. */
  readonly descriptor: CheckedDescriptor;
  readonly certificate: Certificate;
  readonly deltaId: Uint8Array;
  readonly inputDigest: Uint8Array;
}

/** What the device's key must sign next; keys in browsers sign later. */
export interface ToSign {
  readonly statement: Uint8Array;
}

/** Draws b and s_1 .. s_{K-1}, independent, and seals each to its attribute. A buffer is entered once, ever. */
export function prepareDeposit(ports: UserPorts, device: Device, input: DepositInput): DeviceStep<ToSign> {
  const { suite, randomBytes } = ports;
  const ctx = ctxOf(suite, input.descriptor);
  const problem = entryProblem(device.ledger, ctx);
  if (problem !== undefined) return declined(device, problem);
  const nonce = randomBytes(16);
  const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, input.certificate.deviceKey), nonce });
  const edges = Array.from({ length: input.descriptor.bufferSize - 1 }, () => randomBytes(SEED_BYTES));
  const self = randomBytes(SEED_BYTES);
  const entries = [
    ...edges.map((seed, n) => sealEdge(ports, ctx, joinTag, seed, (n + 1) as Slot)),
    sealedSeed(ports, self, selfAttribute(suite, ctx, joinTag), sealingContext(ctx, 'self', joinTag, 0)),
  ];
  const entry: UserRecord = { kind: 'prepared', ...input, nonce, self, edges, entries };
  const records = [entry, { kind: 'entered' as const, ctx }];
  const state = restoreDevice(suite, records, device);
  return { state, records, answer: depositToSign(state.session as PreparedSession), events: [] };
}

export function depositToSign({ member: { ctx, joinTag, root } }: PreparedSession): ToSign {
  return { statement: depositStatementCodec.statement({ ctx, joinTag, root }) };
}

export function depositMessage({ member, entries }: PreparedSession, signature: Uint8Array): Deposit {
  const { certificate, ctx, nonce, root } = member;
  return { certificate, ctx, nonce, root, entries, signature };
}

function sealEdge(ports: UserPorts, ctx: Ctx, joinTag: JoinTag, seed: Uint8Array, slot: Slot): SealedSeed {
  return sealedSeed(ports, seed, edgeAttribute(ports.suite, ctx, slot), sealingContext(ctx, 'edge', joinTag, slot));
}

function sealedSeed(
  { suite, sealing }: UserPorts,
  seed: Uint8Array,
  attribute: Uint8Array,
  context: Uint8Array,
): SealedSeed {
  return { commitment: commitmentOf(suite, seed), sealed: sealing.seal(seed, attribute, context) };
}
