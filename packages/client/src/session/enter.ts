/** Takes a seat, checks the descriptor against the pins, quantises the update and makes the session durable. */
import { DecodeError } from '@basa/masking';
import {
  type Block,
  buildInput,
  type CheckedDescriptor,
  checkDrawnBuffer,
  type DrawnBuffer,
  depositSteps,
  inputDigestOf,
  isRefused,
  noteModel,
  type Seated,
  type SeenModel,
  sealedBy,
} from '@basa/protocol';
import type { Rejection } from './contribution.ts';
import { type DeviceContext, userPorts } from './device-context.ts';
import { withCertificate } from './enrol.ts';
import type { Meter } from './meter.ts';
import { newestEntry } from './model-fetch.ts';
import { rejected } from './rejections.ts';

/** An update to offer. */
export interface Update {
  readonly delta: Float32Array;
  /** The version of the model it was trained on. */
  readonly trainedOn: number;
  /**
   * 16 random bytes of this training, in a private task: two trainings that end in the same numbers are two updates then. Without
   * them, or in another task, the same numbers are one.
   */
  readonly training?: Uint8Array;
  /** In (0, 1]: how much it counts besides its staleness; 1 by default, and always in a private task. */
  readonly exampleWeight?: number;
  /** The tensors of the model (`blocksOf`), none of which may vanish; without them the whole update is one. */
  readonly blocks?: readonly Block[];
  /** A finite number for each metric that the task names; it is clipped to its range, and only the mean is learnt. */
  readonly metrics?: Readonly<Record<string, number>>;
}

/** Leaves a prepared session in the device's state, or says why not. */
export async function enter(
  context: DeviceContext,
  update: Update,
  deltaId: Uint8Array,
  meter: Meter,
  signal: AbortSignal,
): Promise<Rejection | undefined> {
  const { events, outside, sealings, state } = context;
  const model = await modelOf(context, update.trainedOn, signal);
  if (model === undefined)
    return rejected('model-not-logged', 'free', {
      detail: `this device has not seen version ${update.trainedOn} lately; fetch the newest with model() and train on it`,
    });
  events.emit('progress', { step: 'seat' });
  const seat = await meter.measure('seat', () => takeSeat(context, model, signal));
  if (seat.kind === 'rejected') return seat;
  const { descriptor, slotKeys } = seat;
  const noted = await state.take(noteModel(outside.suite, state, descriptor));
  if (isRefused(noted)) return rejected(noted.reason, 'free', noted);
  return await meter.measure('deposit', async () => {
    const randomWords = (words: Uint32Array): void => fillWords(context, words);
    const built = buildInput(descriptor, { ...update, randomWords, kernel: outside.kernel });
    if (built.kind === 'refused') return rejected(built.reason, 'free', built);
    const { clipped, staleness } = built;
    events.emit('quantized', { clipped, entries: update.delta.length, staleness });
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
 * The model of a version as it was signed, among the last ones that this device has seen; the newest is asked for if it has not seen it. With
 * mixed versions the number is enough.
 */
async function modelOf(context: DeviceContext, version: number, signal: AbortSignal): Promise<SeenModel | undefined> {
  const { pins, state } = context;
  if (pins.policy.versions === 'unsafeMixed') return { version, modelHash: new Uint8Array(32) };
  const seen = (): SeenModel | undefined => state.ledger.recent.find((model) => model.version === version);
  if (seen() === undefined && version > (state.ledger.seen?.version ?? -1)) await newestEntry(context, signal);
  return seen();
}

/** In a buffer for updates that were trained on this model. */
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

/** A buffer that is over by what was told of the time may be open: the device's own clock may have been set since. */
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

/** A sealing key that is none makes the descriptor useless, whoever signed it. */
function sealingPorts(context: DeviceContext, descriptor: CheckedDescriptor): ReturnType<typeof userPorts> | Rejection {
  try {
    return userPorts(context, descriptor);
  } catch (error) {
    if (error instanceof DecodeError) return rejected('descriptor-invalid', 'free', { detail: error.message });
    throw error;
  }
}

function fillWords({ outside }: DeviceContext, words: Uint32Array): void {
  const bytes = outside.randomBytes(words.byteLength);
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength).set(bytes);
  bytes.fill(0);
}
