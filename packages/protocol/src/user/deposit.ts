/** The user's side of the deposit: fresh seeds, sealed to the slots to come, fixed by one root. */
import { SEED_BYTES } from '@basa/masking';
import type { Ctx, JoinTag, Slot } from '../wire/brands.ts';
import { commitmentOf, edgeAttribute, joinTagOf, sealingContext, selfAttribute } from '../wire/naming.ts';
import type { Certificate } from '../wire/statements.ts';
import { ctxOf, userIdOf } from '../wire/statements.ts';
import type { Transition } from '../wire/transition.ts';
import { declined } from '../wire/transition.ts';
import type { Deposit, SealedSeed } from '../wire/user-messages.ts';
import { depositStatementCodec } from '../wire/user-messages.ts';
import type { DeviceLedger, LedgerRecord } from './ledger.ts';
import { entryProblem } from './ledger.ts';
import type { CheckedDescriptor } from './seat.ts';
import type { PreparedSession, UserPorts, UserRecord, UserSession } from './session.ts';
import { evolveSession } from './session.ts';

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

/** The same, with what the device's ledger must hold, durably, before it leaves. */
export interface Committed extends ToSign {
  readonly ledger: LedgerRecord;
}

/** Draws b and s_1 .. s_{K-1}, independent, and seals each to its attribute. A buffer is entered once, ever. */
export function prepareDeposit(
  ports: UserPorts,
  ledger: DeviceLedger,
  input: DepositInput,
): Transition<UserSession | undefined, UserRecord, Committed> {
  const { suite, randomBytes } = ports;
  const ctx = ctxOf(suite, input.descriptor);
  const problem = entryProblem(ledger, ctx);
  if (problem !== undefined) return declined(undefined, problem);
  const nonce = randomBytes(16);
  const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, input.certificate.deviceKey), nonce });
  const edges = Array.from({ length: input.descriptor.bufferSize - 1 }, () => randomBytes(SEED_BYTES));
  const self = randomBytes(SEED_BYTES);
  const entries = [
    ...edges.map((seed, n) => sealEdge(ports, ctx, joinTag, seed, (n + 1) as Slot)),
    sealedSeed(ports, self, selfAttribute(suite, ctx, joinTag), sealingContext(ctx, 'self', joinTag, 0)),
  ];
  const entry: UserRecord = { kind: 'prepared', ...input, nonce, self, edges, entries };
  const state = evolveSession(suite, undefined, entry) as PreparedSession;
  const answer = { ...depositToSign(state), ledger: { kind: 'entered' as const, ctx } };
  return { state, records: [entry], answer, events: [] };
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
