import { toHex } from '@basa/masking';
import {
  type Coordinator,
  createCoordinator,
  freeSeats,
  millis,
  type OpenBuffer,
  takeSeat,
  trackBuffer,
  type UserId,
} from '@basa/protocol';
import { granted } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

describe('the coordinator', () => {
  const world = nodeFederation({ bufferSize: 3 });
  const name = (n: number): UserId => new Uint8Array(32).fill(n) as UserId;
  const open = (count: number): Coordinator => {
    let coordinator = createCoordinator(100);
    for (let n = 0; n < count; n++)
      coordinator = trackBuffer(coordinator, world.server.buffer(world.server.drawBuffer()));
    return coordinator;
  };

  it('gives K seats in the oldest buffer, then opens the next', () => {
    let coordinator = open(2);
    const given = Array.from({ length: 7 }, (_, n) => {
      const step = takeSeat(coordinator, name(n), 0, millis(0));
      coordinator = step.coordinator;
      return step.seat.kind === 'seated'
        ? coordinator.buffers.findIndex(({ ctx }) => step.seat.kind === 'seated' && ctx === step.seat.ctx)
        : step.seat.kind;
    });
    expect(given).toEqual([0, 0, 0, 1, 1, 1, 'needs-buffer']);
  });

  it('gives the same seat again while it lives, and frees it when it lapses unused', () => {
    let { coordinator, seat } = takeSeat(open(1), name(1), 0, millis(0));
    expect(takeSeat(coordinator, name(1), 0, millis(50)).seat).toEqual(seat);
    for (const n of [2, 3]) ({ coordinator, seat } = takeSeat(coordinator, name(n), 0, millis(50)));
    expect(takeSeat(coordinator, name(4), 0, millis(60)).seat.kind).toBe('needs-buffer');
    expect(takeSeat(coordinator, name(4), 0, millis(100)).seat.kind).toBe('seated');
  });

  it('counts deposits as taken, and the seat of whoever deposited as free', () => {
    const two = nodeFederation({ bufferSize: 3 });
    const ctx = two.server.drawBuffer();
    let coordinator = trackBuffer(createCoordinator(100), two.server.buffer(ctx));
    expect(freeSeats(coordinator, 0, millis(0))).toBe(3);
    const device = two.device();
    ({ coordinator } = takeSeat(coordinator, device.user, 0, millis(0)));
    ({ coordinator } = takeSeat(coordinator, name(1), 0, millis(0)));
    expect(freeSeats(coordinator, 0, millis(0))).toBe(1);
    granted(device.contribute('deposit'));
    coordinator = trackBuffer(coordinator, two.server.buffer(device.ctx));
    expect(coordinator.buffers.find(({ name: one }) => one === toHex(device.ctx))?.depositors.size).toBe(1);
    expect(freeSeats(coordinator, 0, millis(0))).toBe(1);
    const { seat, coordinator: full } = takeSeat(coordinator, name(2), 0, millis(0));
    expect(seat).toMatchObject({ kind: 'seated', seats: 2, deposits: 1 });
    expect(freeSeats(full, 0, millis(0))).toBe(0);
    expect(takeSeat(full, name(3), 0, millis(0)).seat.kind).toBe('needs-buffer');
    expect(takeSeat(full, device.user, 0, millis(0)).seat.kind).toBe('needs-buffer');
    expect(freeSeats(coordinator, 0, millis(10 ** 9))).toBe(0);
  });

  it('forgets a buffer that is full or decided, and leaves the others as they are', () => {
    const coordinator = open(2);
    const [first, second] = coordinator.buffers;
    const full = { ...world.server.buffer((first as OpenBuffer).ctx), status: 'frozen' as const };
    expect(trackBuffer(coordinator, full).buffers).toEqual([second]);
    const filling = world.server.buffer((first as OpenBuffer).ctx);
    const slots = Array.from({ length: 3 }, (_, n) => ({ user: name(n), ticket: { joinTag: name(n) } }) as never);
    expect(trackBuffer(coordinator, { ...filling, slots }).buffers).toEqual([second]);
    expect(trackBuffer(coordinator, { ...filling, slots: slots.slice(1) }).buffers).toHaveLength(2);
    expect(trackBuffer(coordinator, filling).buffers.map(({ ctx }) => ctx)).toEqual([first?.ctx, second?.ctx]);
    const { coordinator: seated } = takeSeat(coordinator, name(1), 0, millis(0));
    const tracked = trackBuffer(seated, world.server.buffer((second as OpenBuffer).ctx));
    expect(tracked.buffers.map(({ seated: users }) => users.size)).toEqual([1, 0]);
  });

  it('gives the held seat again where another buffer is older', () => {
    const coordinator = open(2);
    const second = coordinator.buffers[1] as OpenBuffer;
    const held = takeSeat(coordinator, name(1), 0, millis(0), ({ ctx }) => ctx === second.ctx);
    expect(held.seat).toMatchObject({ kind: 'seated', ctx: second.ctx });
    for (const mayEnter of [() => true, () => false])
      expect(takeSeat(held.coordinator, name(1), 0, millis(1), mayEnter).seat).toMatchObject({ ctx: second.ctx });
    expect(takeSeat(held.coordinator, name(2), 0, millis(1), () => false).seat.kind).toBe('must-wait');
  });

  it('gives another seat to whoever holds one in a buffer that has expired', () => {
    const { coordinator } = takeSeat(open(2), name(1), 0, millis(0));
    const [first, second] = coordinator.buffers as [OpenBuffer, OpenBuffer];
    const expired = { ...coordinator, buffers: [{ ...first, expiry: millis(50) }, second] };
    expect(takeSeat(expired, name(1), 0, millis(49)).seat).toMatchObject({ ctx: first.ctx });
    expect(takeSeat(expired, name(1), 0, millis(50)).seat).toMatchObject({ ctx: second.ctx });
  });

  it('gives no seat in a buffer that has expired', () => {
    const coordinator = open(1);
    const { expiry } = coordinator.buffers[0] as OpenBuffer;
    expect(takeSeat(coordinator, name(1), 0, millis(expiry - 1)).seat.kind).toBe('seated');
    expect(freeSeats(coordinator, 0, millis(expiry - 1))).toBe(3);
    expect(takeSeat(coordinator, name(1), 0, expiry).seat.kind).toBe('needs-buffer');
    expect(freeSeats(coordinator, 0, expiry)).toBe(0);
  });
});
