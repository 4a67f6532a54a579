/** Offers an update: brings an interrupted session to its end first, and never gives one update to two buffers. */
import { equalBytes, toHex } from '@basa/masking';
import { problemOf } from '@basa/protocol';
import type { Contribution, Rejection } from './contribution.ts';
import type { Engine } from './engine.ts';
import type { Update } from './enter.ts';
import { enter } from './enter.ts';
import { finishSession } from './finish.ts';
import { Meter } from './meter.ts';
import { askOutcome } from './outcomes.ts';
import { rejected } from './rejections.ts';

const MOST_SEATS = 3;

export async function contribute(
  engine: Engine,
  update: Update,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  checkUpdate(update);
  // A copy: the caller may go on with its array while this waits for a seat.
  const delta = update.delta.slice();
  try {
    return await contributeCopy(engine, { ...update, delta }, signal);
  } finally {
    delta.fill(0);
  }
}

async function contributeCopy(engine: Engine, update: Update, signal: AbortSignal): Promise<Contribution | Rejection> {
  const deltaId = deltaIdOf(engine, update.delta);
  const pending = engine.state.session;
  if (pending !== undefined) {
    const ended = await resume(engine, signal);
    if (ended?.kind === 'accepted' && equalBytes(pending.member.deltaId, deltaId)) return ended;
  }
  const held = await heldElsewhere(engine, deltaId, signal);
  return report(engine, held ?? (await offer(engine, update, deltaId, signal)));
}

/** Goes on with an interrupted session, with the same bytes; undefined where there is none. */
export async function resume(engine: Engine, signal: AbortSignal): Promise<Contribution | Rejection | undefined> {
  if (engine.state.session === undefined) return undefined;
  return report(engine, await finishSession(engine, newMeter(engine), signal));
}

async function offer(
  engine: Engine,
  update: Update,
  deltaId: Uint8Array,
  signal: AbortSignal,
): Promise<Contribution | Rejection> {
  const meter = newMeter(engine);
  for (let seats = 1; ; seats++) {
    const result =
      (await enter(engine, update, deltaId, meter, signal)) ?? (await finishSession(engine, meter, signal));
    if (result.kind === 'accepted' || result.update === 'held' || seats === MOST_SEATS) return result;
    if (problemOf(result.reason).anotherSeat !== true) return result;
  }
}

/** An update some buffer may have is offered again only with the authority's word that it is not in its sum. */
async function heldElsewhere(engine: Engine, deltaId: Uint8Array, signal: AbortSignal): Promise<Rejection | undefined> {
  const given = engine.state.ledger.deltas.get(toHex(deltaId));
  if (given === undefined) return undefined;
  const outcome = await askOutcome(engine, given, signal);
  return outcome === 'excluded' || outcome === 'aborted'
    ? undefined
    : rejected('delta-committed', 'held', { detail: outcome });
}

function checkUpdate({ exampleWeight = 1, trainedOn }: Update): void {
  if (!Number.isSafeInteger(trainedOn) || trainedOn < 0) {
    throw new RangeError(`trainedOn is the version that model() gave, got ${trainedOn}`);
  }
  if (!(exampleWeight > 0 && exampleWeight <= 1)) {
    throw new RangeError(`exampleWeight must be in (0, 1], got ${exampleWeight}`);
  }
}

/** An update is what it says: the same numbers offered twice are one update. */
function deltaIdOf({ outside }: Engine, { buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return outside.suite.sha256(new Uint8Array(buffer, byteOffset, byteLength));
}

function newMeter({ authority, outside, server }: Engine): Meter {
  return new Meter(outside.stopwatch, [server.link, authority.link]);
}

function report<Result extends Contribution | Rejection>({ events }: Engine, result: Result): Result {
  if (result.kind === 'accepted') events.emit('accepted', result);
  else events.emit('rejected', result);
  return result;
}
