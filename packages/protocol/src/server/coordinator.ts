/**
 * Gives seats in the open buffers of one task: any number of them side by side, so that no user waits for another.
 * Seats live in memory only and lapse unused; what counts is the deposit.
 */
import { toHex } from '@basa/masking';
import type { Ctx, Millis, UserId } from '../wire/brands.ts';
import type { SecureBuffer } from './secure-buffer.ts';

interface Seat {
  readonly ctx: string;
  readonly lapsesAt: Millis;
}

export interface OpenBuffer {
  readonly ctx: Ctx;
  /** ctx in hexadecimal: thousands are compared for a seat. */
  readonly name: string;
  readonly bufferSize: number;
  /** With one version a buffer, that version; else undefined, and any update may enter. */
  readonly version: number | undefined;
  readonly expiry: Millis;
  readonly depositors: ReadonlySet<string>;
  readonly seated: ReadonlySet<string>;
}

export interface Coordinator {
  readonly seatMs: number;
  /** Open buffers, oldest first. */
  readonly buffers: readonly OpenBuffer[];
  readonly seats: ReadonlyMap<string, Seat>;
}

export type SeatGiven =
  | {
      readonly kind: 'seated';
      readonly ctx: Ctx;
      readonly lapsesAt: Millis;
      readonly seats: number;
      readonly deposits: number;
    }
  /** Every seat is taken: ask the authority to draw another buffer, add it, and ask again. */
  | { readonly kind: 'needs-buffer' }
  /** There are seats, and none that this device may take now. */
  | { readonly kind: 'must-wait' };

export function createCoordinator(seatMs: number): Coordinator {
  return { seatMs, buffers: [], seats: new Map() };
}

/** Adds a buffer, or takes in what a buffer restored from its records has become. */
export function trackBuffer(coordinator: Coordinator, buffer: SecureBuffer): Coordinator {
  const name = toHex(buffer.ctx);
  const others = coordinator.buffers.filter((open) => open.name !== name);
  const { ctx, descriptor, slots, status } = buffer;
  if (status !== 'filling' || slots.length >= descriptor.bufferSize) return { ...coordinator, buffers: others };
  const before = coordinator.buffers.find((open) => open.name === name);
  const depositors = new Set(slots.map(({ user }) => toHex(user)));
  const tracked: OpenBuffer = {
    ctx,
    name,
    bufferSize: descriptor.bufferSize,
    version: descriptor.versions === 'one' ? descriptor.version : undefined,
    expiry: descriptor.expiry,
    depositors,
    seated: new Set([...(before?.seated ?? [])].filter((user) => !depositors.has(user))),
  };
  const buffers =
    before === undefined ? [...others, tracked] : coordinator.buffers.map((open) => (open === before ? tracked : open));
  return { ...coordinator, buffers };
}

/**
 * A live seat in a buffer of this version is given again; else the oldest buffer of it with seats + deposits < K that the user is not in and
 * may enter.
 */
export function takeSeat(
  before: Coordinator,
  user: UserId,
  version: number,
  now: Millis,
  mayEnter: (buffer: OpenBuffer) => boolean = () => true,
): { readonly coordinator: Coordinator; readonly seat: SeatGiven } {
  const coordinator = lapseSeats(before, now);
  const device = toHex(user);
  const given = coordinator.seats.get(device);
  const isOfVersion = (buffer: OpenBuffer): boolean => (buffer.version ?? version) === version;
  const held = coordinator.buffers.some((buffer) => buffer.name === given?.ctx && isOfVersion(buffer))
    ? given
    : undefined;
  const free = coordinator.buffers
    .filter(isOfVersion)
    .filter(
      ({ name, bufferSize, expiry, seated, depositors }) =>
        now < expiry &&
        !depositors.has(device) &&
        (held === undefined ? seated.size + depositors.size < bufferSize : name === held.ctx),
    );
  const open = held === undefined ? free.find(mayEnter) : free[0];
  if (open === undefined) return { coordinator, seat: { kind: free.length > 0 ? 'must-wait' : 'needs-buffer' } };
  const lapsesAt = held?.lapsesAt ?? ((now + coordinator.seatMs) as Millis);
  const taken: OpenBuffer = { ...open, seated: new Set(open.seated).add(device) };
  return {
    coordinator: {
      ...coordinator,
      buffers: coordinator.buffers.map((buffer) => (buffer === open ? taken : without(buffer, device))),
      seats: new Map(coordinator.seats).set(device, { ctx: open.name, lapsesAt }),
    },
    seat: { kind: 'seated', ctx: open.ctx, lapsesAt, seats: taken.seated.size, deposits: taken.depositors.size },
  };
}

/** Without a seat that the device holds there: it has one seat at a time. */
function without(buffer: OpenBuffer, device: string): OpenBuffer {
  if (!buffer.seated.has(device)) return buffer;
  return { ...buffer, seated: new Set([...buffer.seated].filter((user) => user !== device)) };
}

/** How many with an update on this version could sit down without another buffer. */
export function freeSeats({ buffers }: Coordinator, version: number, now: Millis): number {
  return buffers
    .filter((buffer) => now < buffer.expiry && (buffer.version ?? version) === version)
    .reduce((sum, { bufferSize, seated, depositors }) => sum + bufferSize - seated.size - depositors.size, 0);
}

/** Frees the seats nobody used in time, and those in buffers that took their deposit or are gone. */
function lapseSeats(coordinator: Coordinator, now: Millis): Coordinator {
  const openSeats = new Map(coordinator.buffers.map((buffer) => [buffer.name, buffer]));
  const seats = new Map(
    [...coordinator.seats].filter(([user, { ctx, lapsesAt }]) => {
      const buffer = openSeats.get(ctx);
      return buffer !== undefined && now < lapsesAt && now < buffer.expiry && buffer.seated.has(user);
    }),
  );
  if (seats.size === coordinator.seats.size) return coordinator;
  const buffers = coordinator.buffers.map((buffer) => ({
    ...buffer,
    seated: new Set([...buffer.seated].filter((user) => seats.get(user)?.ctx === buffer.name)),
  }));
  return { ...coordinator, buffers, seats };
}
