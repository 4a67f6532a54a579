/** The user's side of the deposit: fresh seeds, sealed to the slots to come, fixed by one root. */
import { SEED_BYTES } from '@basa/masking';
import type { Slot } from '../wire/brands.ts';
import { type Certificate, userIdOf } from '../wire/certificate.ts';
import { ctxOf } from '../wire/descriptor.ts';
import { commitmentOf, joinTagOf } from '../wire/naming.ts';
import { type SealingSteps, sealedAtOnce } from '../wire/sealing-work.ts';
import { declined } from '../wire/transition.ts';
import { type Deposit, depositStatementCodec } from '../wire/user-messages.ts';
import { budgetProblem } from './budget.ts';
import { type Device, type DeviceStep, restoreDevice } from './device.ts';
import { entryProblem, versionProblem } from './ledger.ts';
import type { CheckedDescriptor } from './seat.ts';
import type { PreparedSession, UserPorts, UserRecord } from './session.ts';

export interface DepositInput {
  /** A descriptor that passed `checkDrawnBuffer`. */
  readonly descriptor: CheckedDescriptor;
  /** The list that was checked with it. */
  readonly slotKeys: Uint8Array;
  readonly certificate: Certificate;
  readonly deltaId: Uint8Array;
  readonly inputDigest: Uint8Array;
}

/** The next statement for the device's key to sign; keys in browsers sign asynchronously. */
export interface ToSign {
  readonly statement: Uint8Array;
}

/** Prepares the deposit with its seeds sealed synchronously. */
export function prepareDeposit(ports: UserPorts, device: Device, input: DepositInput): DeviceStep<ToSign> {
  return sealedAtOnce(ports.sealing, depositSteps(ports, device, input));
}

/** Draws s_1 .. s_{K-1}, independent, and has each sealed to its slot. A device enters a buffer only once. */
export function* depositSteps(
  { suite, randomBytes }: Pick<UserPorts, 'suite' | 'randomBytes'>,
  device: Device,
  input: DepositInput,
): SealingSteps<DeviceStep<ToSign>> {
  const ctx = ctxOf(suite, input.descriptor);
  const problem =
    entryProblem(device.ledger, ctx) ??
    budgetProblem(device.ledger, input.descriptor.privacy, input.deltaId) ??
    versionProblem(device.ledger, input.descriptor, input.deltaId);
  if (problem !== undefined) return declined(device, problem);
  const nonce = randomBytes(16);
  const joinTag = joinTagOf(suite, { ctx, user: userIdOf(suite, input.certificate.deviceKey), nonce });
  const edges = Array.from({ length: input.descriptor.bufferSize - 1 }, () => randomBytes(SEED_BYTES));
  const buffer = { ctx, descriptor: input.descriptor, slotKeys: input.slotKeys };
  const use = { role: 'edge', joinTag } as const;
  const seals = edges.map((seed, n) => ({ to: (n + 1) as Slot, use, seed }));
  const sealed = yield { kind: 'seal', buffer, seals };
  const entries = edges.map((seed, n) => ({
    commitment: commitmentOf(suite, seed),
    sealed: sealed?.[n] as Uint8Array,
  }));
  const entry: UserRecord = { kind: 'prepared', ...input, nonce, edges, entries };
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
