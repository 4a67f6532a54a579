/** Seats in open buffers: no more are given than a buffer has slots. */
import { equalBytes, toHex } from '@basa/masking';
import { type Ctx, type Descriptor, type Entry, enterBuffer, maySitBeside, type OpenBuffer } from '@basa/protocol';
import { column, type Row } from '@basa/service';
import { readDescriptor } from '../store/buffers.ts';
import { suspicionsOf } from '../store/suspicions.ts';
import { remember } from './recent.ts';
import type { AdmissionTicket, LockedTicket } from './ticket.ts';

export interface SeatWish {
  /** The lifetime of the seat. */
  readonly forMs: number;
  /** K. */
  readonly bufferSize: number;
  /** The time before its expiry from which a buffer counts as waiting for long. */
  readonly lateMs: number;
  /** In a buffer of this version, if buffers have one. */
  readonly version?: number;
  /** In this buffer. */
  readonly only?: Ctx;
}

interface FoundBuffer extends OpenBuffer {
  readonly descriptor: Descriptor;
  readonly deposited: number;
}

/**
 * Open buffers in which the device has no slot, with the number of devices in each; full ones are left out, except the
 * one in which it has a seat. One statement, so that a seat that becomes a deposit is counted once.
 */
const OPEN_BUFFERS = `SELECT * FROM (SELECT b.ctx, b.descriptor, b.drawn_at, k.policy,
    (SELECT COUNT(*) FROM deposits d WHERE d.ctx = b.ctx) AS deposited,
    (SELECT COUNT(*) FROM tickets t WHERE t.ctx = b.ctx AND t.seat_until > ?) AS seated
  FROM buffers b JOIN tasks k ON k.task = b.task WHERE b.task = ? AND b.status = 'filling') AS open
  WHERE (seated + deposited < ? OR ctx = ?) AND NOT EXISTS (SELECT 1 FROM deposits d WHERE d.ctx = open.ctx AND d.usr = ?)
  ORDER BY drawn_at, ctx`;
const IN_OPEN_BUFFERS = `SELECT b.ctx, d.usr FROM buffers b JOIN deposits d ON d.ctx = b.ctx WHERE b.task = ? AND b.status = 'filling'
  UNION SELECT t.ctx, t.usr FROM tickets t WHERE t.task = ? AND t.seat_until > ?`;

const NOWHERE = new Uint8Array();

/** Cache of decoded descriptors: they never change, and those of all open buffers are needed for every seat. */
export type KnownDescriptors = Map<string, Descriptor>;

/** Takes a seat in the oldest buffer that the device may enter, or the one in which it has a seat; returns its updated ticket. */
export async function takeSeat(
  locked: LockedTicket,
  { forMs, bufferSize, version, only, lateMs }: SeatWish,
  descriptors: KnownDescriptors,
): Promise<{ readonly entry: Entry<FoundBuffer>; readonly ticket: AdmissionTicket }> {
  const { query, task, user, at, ticket } = locked;
  const held = ticket.seat !== undefined && ticket.seat.until > at ? ticket.seat.ctx : NOWHERE;
  const rows = await query(OPEN_BUFFERS, at, task, bufferSize, held, user);
  const open = rows.map((row) => foundBuffer(row, held, descriptors));
  const entry = enterBuffer(open, { now: at, version, only }, await companyRule(locked, lateMs));
  if (entry.kind !== 'seated' || !entry.isNew) return { entry, ticket };
  return { entry, ticket: { ...ticket, seat: { ctx: entry.buffer.ctx, until: at + forMs } } };
}

function foundBuffer(row: Row, held: Uint8Array, descriptors: KnownDescriptors): FoundBuffer {
  const ctx = column.bytes(row, 'ctx') as Ctx;
  const known = descriptors.get(toHex(ctx));
  const descriptor = known ?? readDescriptor(row);
  if (known === undefined) remember(descriptors, toHex(ctx), descriptor);
  const [seated, deposited] = [column.number(row, 'seated'), column.number(row, 'deposited')];
  return { ctx, descriptor, taken: seated + deposited, deposited, own: equalBytes(ctx, held) ? 'seat' : undefined };
}

/** Decides by suspicion which buffers the device may sit in: its own, and that of the devices there. */
async function companyRule(
  { query, task, user, at }: LockedTicket,
  lateMs: number,
): Promise<(buffer: FoundBuffer) => boolean> {
  const suspicions = await suspicionsOf({ query }, task);
  if (!suspicions.suspects.has(toHex(user))) return () => true;
  const company = (await query(IN_OPEN_BUFFERS, task, task, at)).map((row) => ({
    ctx: toHex(column.bytes(row, 'ctx')),
    user: toHex(column.bytes(row, 'usr')),
  }));
  return ({ ctx, descriptor }) => {
    const users = company.filter((one) => one.ctx === toHex(ctx)).map((one) => one.user);
    const { minimum, expiry } = descriptor;
    return maySitBeside(suspicions, toHex(user), { ctx, minimum, users, isLate: at >= expiry - lateMs });
  };
}
