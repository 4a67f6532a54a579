/** The open buffer that a device enters, and the cases in which another one has to be drawn. */
import { toHex } from '@basa/masking';
import {
  type Ctx,
  type Entry,
  enterBuffer,
  maySitBeside,
  millis,
  NEW_STANDING,
  type OpenBuffer,
  SUSPECT,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const EXPIRY = 100;

function buffer(name: number, more: Partial<OpenBuffer> = {}, version?: number): OpenBuffer {
  const versions = version === undefined ? ('unsafeMixed' as const) : ('one' as const);
  return {
    ctx: new Uint8Array(32).fill(name) as Ctx,
    descriptor: { bufferSize: 3, expiry: millis(EXPIRY), version: version ?? 0, versions },
    taken: 0,
    ...more,
  };
}

/** The name of the buffer, or the reason why there is none. */
function entered(entry: Entry<OpenBuffer>): number | string | undefined {
  return entry.kind === 'seated' ? entry.buffer.ctx[0] : entry.kind;
}

describe('a device that comes with an update', () => {
  const now = 0;

  it('enters the oldest buffer with a free seat; without a free seat, asks for a new buffer', () => {
    const full = buffer(1, { taken: 3 });
    expect(enterBuffer([full, buffer(2, { taken: 2 }), buffer(3)], { now })).toMatchObject({
      kind: 'seated',
      buffer: { taken: 2 },
      isNew: true,
      free: 3,
    });
    expect(entered(enterBuffer([full], { now }))).toBe('needs-buffer');
    expect(entered(enterBuffer([], { now }))).toBe('needs-buffer');
  });

  it('gets the seat that it holds, even in a full buffer, beside an older one, or if it may not enter now', () => {
    const open = [buffer(1), buffer(2, { taken: 3, own: 'seat' })];
    for (const mayEnter of [() => true, () => false])
      expect(enterBuffer(open, { now }, mayEnter)).toMatchObject({ buffer: open[1], isNew: false, free: 3 });
  });

  it('never enters a buffer twice', () => {
    expect(entered(enterBuffer([buffer(1, { taken: 1, own: 'slot' })], { now }))).toBe('needs-buffer');
    expect(entered(enterBuffer([buffer(1, { taken: 1, own: 'slot' }), buffer(2)], { now }))).toBe(2);
  });

  it('enters no expired buffer, even if it holds a seat there', () => {
    const open = [buffer(1, { taken: 1, own: 'seat' })];
    expect(entered(enterBuffer(open, { now: EXPIRY - 1 }))).toBe(1);
    expect(entered(enterBuffer(open, { now: EXPIRY }))).toBe('needs-buffer');
    const later = { ...buffer(2), descriptor: { ...buffer(2).descriptor, expiry: millis(2 * EXPIRY) } };
    expect(enterBuffer([...open, later], { now: EXPIRY })).toMatchObject({ buffer: later, free: 2 });
  });

  it('waits if it may take none of the free seats', () => {
    const open = [buffer(1), buffer(2)];
    expect(entered(enterBuffer(open, { now }, () => false))).toBe('must-wait');
    expect(entered(enterBuffer(open, { now }, ({ ctx }) => ctx[0] === 2))).toBe(2);
    expect(entered(enterBuffer([buffer(1, { taken: 3 })], { now }, () => false))).toBe('needs-buffer');
  });

  it('enters a buffer of its version if buffers have one, and the one it names', () => {
    const open = [buffer(1, {}, 4), buffer(2, {}, 5), buffer(3, { taken: 1 })];
    expect(entered(enterBuffer(open, { now, version: 5 }))).toBe(2);
    expect(entered(enterBuffer(open, { now, version: 6 }))).toBe(3); // of mixed versions
    expect(entered(enterBuffer(open.slice(0, 2), { now, version: 6 }))).toBe('needs-buffer');
    expect(enterBuffer(open, { now, only: open[2]?.ctx })).toMatchObject({ buffer: open[2], free: 1 });
    expect(entered(enterBuffer(open, { now, only: new Uint8Array(32) as Ctx }))).toBe('needs-buffer');
  });
});

it('a suspect sits beside devices that nobody suspects, and beside no other suspect', () => {
  const suspect = { ...NEW_STANDING, suspicion: SUSPECT };
  const fleet = {
    suspects: new Map([
      ['a', suspect],
      ['b', suspect],
    ]),
    trust: { trusted: 9, mild: 9 },
  };
  const beside = (...users: readonly string[]) =>
    maySitBeside(fleet, 'a', { ctx: new Uint8Array(32) as Ctx, minimum: 2, isLate: false, users });
  expect([beside(), beside('c', 'd'), beside('c', 'b')]).toEqual([true, true, false]);
});

describe('seats in a federation', () => {
  it('are K in each buffer, lapse unused, and become deposits without one more or less', () => {
    const world = nodeFederation({ bufferSize: 3 });
    const seat = (device = world.device()) => {
      granted(world.server.seat(device.seatRequest()));
      return world.server.seats.get(toHex(device.user))?.ctx;
    };
    const [first, second] = [world.device(), world.device()];
    const ctx = seat(first);
    expect([seat(first), seat(second), seat()]).toEqual([ctx, ctx, ctx]);
    granted(first.contribute('deposit'));
    expect(seat()).not.toEqual(ctx);
    world.now = millis(world.now + world.server.seatMs);
    const third = world.device();
    expect([seat(), seat(third)]).toEqual([ctx, ctx]);
    expect(seat()).not.toEqual(ctx);
    expect(seat(first)).not.toEqual(ctx);
  });
});
