/** The user's side of the deposit: fresh seeds, sealed to the slots to come, fixed by one root. */
import { SEED_BYTES } from '@basa/masking';
import type { Ctx, JoinTag, Slot } from '../brands.ts';
import { commitmentOf, edgeAttribute, joinTagOf, sealingContext, selfAttribute } from '../naming.ts';
import type { Certificate, Descriptor } from '../statements.ts';
import { ctxOf, userIdOf } from '../statements.ts';
import type { Deposit, SealedSeed } from '../user-messages.ts';
import { depositStatementCodec } from '../user-messages.ts';
import type { PreparedSession, UserPorts, UserRecord, UserStep } from './session.ts';
import { evolveSession } from './session.ts';

export interface DepositInput {
  readonly descriptor: Descriptor;
  readonly certificate: Certificate;
  readonly deltaId: Uint8Array;
  readonly inputDigest: Uint8Array;
}

/** What the device's key must sign next; keys in browsers sign later. */
export interface ToSign {
  readonly statement: Uint8Array;
}

/** Draws b and s_1 .. s_{K-1}, independent, and seals each to its attribute. */
export function prepareDeposit(ports: UserPorts, input: DepositInput): UserStep<ToSign> {
  const { suite, randomBytes } = ports;
  const ctx = ctxOf(suite, input.descriptor);
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
  return { state, records: [entry], answer: depositToSign(state), events: [] };
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
