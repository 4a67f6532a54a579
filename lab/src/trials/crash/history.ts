/**
 * Checks that the answers to clients could come from a single machine that handles one request at a time: slots are counted, an upload
 * belongs to a slot, and a buffer only moves forward and admits no device after its end. If one call ended before another began, they
 * happened in this order. Calls that overlap may have happened in either order.
 */

interface Call {
  readonly device: number;
  /** Milliseconds on one clock for all. */
  readonly begun: number;
  readonly ended: number;
}

/** A device may sit down in a buffer. */
interface SeatCall extends Call {
  readonly kind: 'seat';
  readonly ctx: string;
}

/** A deposit was answered with a slot. */
interface SlotCall extends Call {
  readonly kind: 'slot';
  readonly ctx: string;
  readonly slot: number;
}

/** An upload was acknowledged. */
interface AcceptCall extends Call {
  readonly kind: 'accept';
  readonly ctx: string;
  readonly slot: number;
}

/** Somebody asked any node how a buffer stands. */
interface StatusCall extends Call {
  readonly kind: 'status';
  readonly ctx: string;
  readonly status: string;
}

export type HistoryCall = SeatCall | SlotCall | AcceptCall | StatusCall;

/** The times at which a device made the same request: with a clear answer, and without an answer or with an unclear one. */
export interface Asked {
  readonly told: number[];
  readonly unknown: number[];
}

/**
 * The earliest time at which the answer to a call may have become true. A client that repeats a request without an answer gets the first
 * answer. The search ends at the previous answer to the device.
 */
export function mayHaveBegun(begun: number, { told, unknown }: Asked): number {
  const lastTold = Math.max(...told.filter((other) => other < begun), Number.NEGATIVE_INFINITY);
  return Math.min(begun, ...unknown.filter((other) => other > lastTold));
}

const RANK: Readonly<Record<string, number>> = { filling: 0, frozen: 1, granted: 2 };
const ENDED_RANK = 3;

/** Describes observations that no order of the calls explains. */
export function faultsOf(history: readonly HistoryCall[], bufferSize: number): readonly string[] {
  const byBuffer = new Map<string, HistoryCall[]>();
  for (const call of history) byBuffer.set(call.ctx, [...(byBuffer.get(call.ctx) ?? []), call]);
  return [...byBuffer].flatMap(([ctx, calls]) => {
    const slots = calls.filter((call) => call.kind === 'slot');
    const seats = calls.filter((call) => call.kind === 'seat');
    const accepts = calls.filter((call) => call.kind === 'accept');
    const statuses = calls.filter((call) => call.kind === 'status');
    return [
      ...slotFaults(slots, bufferSize),
      ...outOfOrder(slots, ({ slot }) => slot, 'strictly').map(
        (pair) => `slot ${pair.later} was given after slot ${pair.earlier} had been`,
      ),
      ...acceptFaults(accepts, slots),
      ...outOfOrder(statuses, ({ status }) => RANK[status] ?? ENDED_RANK, 'weakly').map(
        () => 'a buffer was seen to go back',
      ),
      ...afterTheEnd([...seats, ...slots, ...accepts], statuses),
    ].map((fault) => `${ctx.slice(0, 16)}: ${fault}`);
  });
}

/** A slot is one device's, a device has one slot, and there are no more than K. */
function slotFaults(slots: readonly SlotCall[], bufferSize: number): readonly string[] {
  const owners = new Map<number, number>();
  const owned = new Map<number, number>();
  return slots.flatMap(({ device, slot }) => {
    const owner = owners.get(slot) ?? device;
    const before = owned.get(device) ?? slot;
    owners.set(slot, owner);
    owned.set(device, before);
    return [
      ...(owner === device ? [] : [`slot ${slot} was given to devices ${owner} and ${device}`]),
      ...(before === slot ? [] : [`device ${device} was given slots ${before} and ${slot}`]),
      ...(slot < bufferSize ? [] : [`slot ${slot} of ${bufferSize}`]),
    ];
  });
}

/** An upload is whose slot it is. */
function acceptFaults(accepts: readonly AcceptCall[], slots: readonly SlotCall[]): readonly string[] {
  return accepts.flatMap(({ device, slot }) => {
    const owner = slots.find((call) => call.slot === slot)?.device;
    return owner === undefined || owner === device ? [] : [`the upload of slot ${slot} came from device ${device}`];
  });
}

type Entering = SeatCall | SlotCall | AcceptCall;

/** A call that began after a client had seen the buffer frozen must not have been let in. */
function afterTheEnd(calls: readonly Entering[], statuses: readonly StatusCall[]): readonly string[] {
  const frozenAt = Math.min(
    ...statuses.filter(({ status }) => status !== 'filling').map(({ ended }) => ended),
    Number.POSITIVE_INFINITY,
  );
  const isFirst = firstCalls(calls);
  return calls
    .filter((call) => call.begun > frozenAt && isFirst(call))
    .map((call) => `${nameOf(call)} came after the buffer was seen frozen`);
}

/** An answer that is repeated was true when it was first given. */
function firstCalls(calls: readonly Entering[]): (call: Entering) => boolean {
  const first = new Map<string, Entering>();
  for (const call of [...calls].sort((a, b) => a.begun - b.begun))
    if (!first.has(nameOf(call))) first.set(nameOf(call), call);
  return (call) => first.get(nameOf(call)) === call;
}

function nameOf(call: Entering): string {
  const slot = call.kind === 'seat' ? '' : ` ${call.slot}`;
  return `${call.kind}${slot} of device ${call.device}`;
}

/**
 * Pairs whose values contradict their times: one had ended before the other began, and its value is greater (or, strictly,
 * the same for another device).
 */
function outOfOrder<One extends Call>(
  calls: readonly One[],
  numberOf: (call: One) => number,
  how: 'strictly' | 'weakly',
): readonly { readonly earlier: number; readonly later: number }[] {
  const byEnd = [...calls].sort((a, b) => a.ended - b.ended);
  const byBegin = [...calls].sort((a, b) => a.begun - b.begun);
  const faults: { earlier: number; later: number }[] = [];
  let greatest: One | undefined;
  let next = 0;
  for (const call of byBegin) {
    for (; next < byEnd.length && (byEnd[next] as One).ended < call.begun; next++) {
      const ended = byEnd[next] as One;
      if (greatest === undefined || numberOf(ended) > numberOf(greatest)) greatest = ended;
    }
    if (greatest === undefined) continue;
    const [before, now] = [numberOf(greatest), numberOf(call)];
    const isRepeat = greatest.device === call.device && before === now;
    const isRepeated =
      how === 'strictly' &&
      calls.some(
        (one) => one !== call && one.device === call.device && numberOf(one) === now && one.begun < call.begun,
      );
    if (before > now || (how === 'strictly' && before === now && !isRepeat))
      if (!isRepeated) faults.push({ earlier: before, later: now });
  }
  return faults;
}
