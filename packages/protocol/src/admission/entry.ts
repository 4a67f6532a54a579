/** Chooses the open buffer for a device that comes with its update. Any number are open in parallel, so that no device waits for another. */
import { equalBytes } from '@basa/masking';
import { NEW_STANDING, STRONG_SUSPECT, type Standing, SUSPECT } from '../server/suspicion.ts';
import type { Ctx } from '../wire/brands.ts';
import type { Descriptor } from '../wire/descriptor.ts';

/** A buffer that is filling, as one device finds it. */
export interface OpenBuffer {
  readonly ctx: Ctx;
  readonly descriptor: Pick<Descriptor, 'bufferSize' | 'expiry' | 'version' | 'versions'>;
  /** Living seats and slots, those of the device included. */
  readonly taken: number;
  /** The device has a living seat in it, or a slot. */
  readonly own?: 'seat' | 'slot' | undefined;
}

export interface EntryWish {
  readonly now: number;
  /** In a buffer of this version, if buffers have one; in any if it is missing. */
  readonly version?: number | undefined;
  /** In this buffer. */
  readonly only?: Ctx | undefined;
}

export type Entry<Buffer> =
  /** `isNew`: the seat is given now. `free`: seats that are left in buffers that the device might have entered. */
  | { readonly kind: 'seated'; readonly buffer: Buffer; readonly isNew: boolean; readonly free: number }
  /** Every seat is taken: have the authorities draw another buffer, and ask again. */
  | { readonly kind: 'needs-buffer' }
  /** There are seats, but none that this device may take now. */
  | { readonly kind: 'must-wait' };

/** Returns the seat that the device has; otherwise one in the first buffer with a free seat that it is not in and may enter. */
export function enterBuffer<Buffer extends OpenBuffer>(
  open: readonly Buffer[],
  { now, version, only }: EntryWish,
  mayEnter: (buffer: Buffer) => boolean = () => true,
): Entry<Buffer> {
  const asked = open.filter(
    ({ ctx, descriptor }) =>
      now < descriptor.expiry &&
      (only === undefined || equalBytes(ctx, only)) &&
      (version === undefined || descriptor.versions !== 'one' || descriptor.version === version),
  );
  const freeIn = ({ descriptor, taken }: Buffer): number => Math.max(0, descriptor.bufferSize - taken);
  const left = asked.reduce((sum, buffer) => sum + freeIn(buffer), 0);
  const held = asked.find(({ own }) => own === 'seat');
  if (held !== undefined) return { kind: 'seated', buffer: held, isNew: false, free: left };
  const free = asked.filter((buffer) => buffer.own === undefined && freeIn(buffer) > 0);
  const found = free.find(mayEnter);
  if (found !== undefined) return { kind: 'seated', buffer: found, isNew: true, free: left - 1 };
  return { kind: free.length > 0 ? 'must-wait' : 'needs-buffer' };
}

/** A buffer that others can enter, as far as suspicion matters. */
export interface EnteredBuffer {
  readonly ctx: Uint8Array;
  /** Kmin. */
  readonly minimum: number;
  /** The number of devices with a seat or a slot in it; of these, the suspects, and of these, the strong ones. */
  readonly taken: number;
  readonly suspects: number;
  readonly strong: number;
  /** It has waited long for trusted devices. */
  readonly isLate: boolean;
}

/** The devices that took part recently and may again; numbers above the minimum need not be counted. */
export interface FleetTrust {
  /** The number of devices that are not suspects. */
  readonly trusted: number;
  /** The number of devices that are not strong suspects, the trusted ones included. */
  readonly mild: number;
}

/** A strong suspect is tested in one of this many buffers. */
const STRONG_EVERY = 5;

/**
 * Decides by suspicion whether a device may enter a buffer. One suspect in a buffer is a useful test. Several suspects would hide each
 * other, and an honest device among only cheats would have no protection.
 *
 * If there are too few trusted devices for a sum, suspects fill the buffer up to the minimum and no further, so that a trusted device still
 * finds a seat. Strong suspects are used only if there are too few mild suspects as well.
 */
export function maySit(suspicion: number, buffer: EnteredBuffer, { trusted, mild }: FleetTrust): boolean {
  if (suspicion < SUSPECT) return true;
  const { ctx, minimum, taken, suspects, strong, isLate } = buffer;
  const missing = minimum - (isLate ? Math.min(trusted, taken - suspects) : trusted);
  if (suspects >= Math.max(1, missing)) return false;
  if (suspicion < STRONG_SUSPECT) return true;
  const missingStrong = minimum - (isLate ? Math.min(mild, taken - strong) : mild);
  if (missingStrong > 0) return strong < missingStrong;
  // ctx is a hash that the authority drew: every node reads the same from it, and no device chose it.
  return (ctx[0] as number) % STRONG_EVERY === 0;
}

/** `maySit` with the users that are in the buffer, all by their names in hex. */
export function maySitBeside(
  { suspects, trust }: { readonly suspects: ReadonlyMap<string, Standing>; readonly trust: FleetTrust },
  user: string,
  { users, ...buffer }: Pick<EnteredBuffer, 'ctx' | 'minimum' | 'isLate'> & { readonly users: readonly string[] },
): boolean {
  const suspicionOf = (one: string): number => (suspects.get(one) ?? NEW_STANDING).suspicion;
  const from = (limit: number): number => users.filter((one) => suspicionOf(one) >= limit).length;
  const company = { taken: users.length, suspects: from(SUSPECT), strong: from(STRONG_SUSPECT) };
  return maySit(suspicionOf(user), { ...buffer, ...company }, trust);
}
