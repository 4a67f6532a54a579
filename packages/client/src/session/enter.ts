/** Quantises the update, takes a seat, checks the descriptor against the pins and makes the session durable. */
import { DecodeError } from '@basa/masking';
import {
  type BuiltInput,
  type CheckedDescriptor,
  checkDrawnBuffer,
  type DrawnBuffer,
  depositSteps,
  inputDigestOf,
  isRefused,
  noteModel,
  type Refused,
  type Seated,
  type SeenModel,
  sealedBy,
  sumRules,
} from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import { type DeviceContext, userPorts } from './device-context.ts';
import { withCertificate } from './enrol.ts';
import type { Meter } from './meter.ts';
import { newestEntry } from './model-fetch.ts';
import { notSeen, quantised, type Update } from './quantised.ts';
import { rejected } from './rejections.ts';

/** Leaves a prepared session in the device's state, or returns the reason why not. */
export async function enter(
  context: DeviceContext,
  update: Update,
  deltaId: Uint8Array,
  meter: Meter,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const model = await modelOf(context, update.trainedOn, signal);
  if (model === undefined)
    return rejected('model-not-logged', 'free', {
      detail: notSeen(update.trainedOn),
    });
  const early = earlyInput(context, model, update);
  if (early?.kind === 'refused') return rejected(early.reason, 'free', early);
  try {
    return await deposit(context, { model, update, early, deltaId }, meter, signal);
  } finally {
    early?.vector.fill(0);
  }
}

/**
 * With one version per buffer, the rules of the sum are known before a seat is taken. An update that breaks them takes no seat, and the
 * server learns nothing about it.
 */
function earlyInput(context: DeviceContext, { version }: SeenModel, update: Update): BuiltInput | undefined {
  const { policy } = context.pins;
  return policy.versions === 'one' ? quantised(context, sumRules(policy, version), update) : undefined;
}

interface Entering {
  readonly model: SeenModel;
  readonly update: Update;
  readonly early: Exclude<BuiltInput, Refused> | undefined;
  readonly deltaId: Uint8Array;
}

async function deposit(
  context: DeviceContext,
  { model, update, early, deltaId }: Entering,
  meter: Meter,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const { events, outside, sealings, state } = context;
  events.emit('progress', { step: 'seat' });
  const seat = await meter.measure('seat', () => takeSeat(context, model, signal));
  if (seat.kind === 'rejected') return seat;
  const { descriptor, slotKeys } = seat;
  const noted = await state.take(noteModel(outside.suite, state, descriptor));
  if (isRefused(noted)) return rejected(noted.reason, 'free', noted);
  return await meter.measure('deposit', async () => {
    const built = early ?? quantised(context, descriptor, update);
    if (built.kind === 'refused') return rejected(built.reason, 'free', built);
    const ports = sealingPorts(context, descriptor);
    if ('reason' in ports) return ports;
    const certificate = state.certificate as NonNullable<typeof state.certificate>;
    const inputDigest = inputDigestOf(outside.suite, built.vector);
    const input = { descriptor, slotKeys, certificate, deltaId, inputDigest };
    const steps = depositSteps(ports, state, input);
    const step = await sealedBy((work) => sealings.work(descriptor, work), steps);
    const prepared = await state.take(step, built.vector);
    built.vector.fill(0);
    return isRefused(prepared) ? rejected(prepared.reason, 'free', prepared) : undefined;
  });
}

type Seat =
  | { readonly kind: 'seat'; readonly descriptor: CheckedDescriptor; readonly slotKeys: Uint8Array }
  | Rejection;

/**
 * The signed model of a version, from the last models that this device has seen. If it has not seen the newest one, that one is requested.
 * With mixed versions the number is enough.
 */
async function modelOf(context: DeviceContext, version: number, signal: AbortSignal): Promise<SeenModel | undefined> {
  const { pins, state } = context;
  if (pins.policy.versions === 'unsafeMixed') return { version, modelHash: new Uint8Array(32) };
  const seen = (): SeenModel | undefined => state.ledger.recent.find((model) => model.version === version);
  if (seen() === undefined && version > (state.ledger.seen?.version ?? -1)) await newestEntry(context, signal);
  return seen();
}

/** Takes a seat in a buffer for updates that were trained on this model. */
export function takeSeat(
  context: DeviceContext,
  { version, modelHash }: SeenModel,
  signal: AbortSignal,
): Promise<Seat> {
  const { server, task } = context;
  return withCertificate(context, signal, async (certificate) => {
    const drawn = await server.seat(task, { certificate, version, modelHash }, signal);
    return checkedSeat(context, drawn, { version, modelHash }, signal);
  });
}

/** A buffer that is over by the reported time may be open, because the device's own clock may have been set since. */
async function checkedSeat(
  context: DeviceContext,
  drawn: DrawnBuffer,
  trainedOn: SeenModel,
  signal: AbortSignal,
): Promise<Seat> {
  const { authorities, outside, pins } = context;
  const check = (): Seated => checkDrawnBuffer(outside.suite, pins, drawn, authorities.now(), trainedOn);
  let seated = check();
  if (seated.kind === 'refused' && seated.reason === 'buffer-not-open') {
    await authorities.readClocks(signal);
    seated = check();
  }
  return seated.kind === 'refused' ? rejected(seated.reason, 'free', seated) : { ...seated, kind: 'seat' };
}

/** Rejects the descriptor if its sealing key is invalid, even if the signature is valid. */
function sealingPorts(context: DeviceContext, descriptor: CheckedDescriptor): ReturnType<typeof userPorts> | Rejection {
  try {
    return userPorts(context, descriptor);
  } catch (error) {
    if (error instanceof DecodeError) return rejected('descriptor-invalid', 'free', { detail: error.message });
    throw error;
  }
}
