import type { Coordinator, UserId } from '@basa/protocol';
import { createCoordinator, millis, takeSeat, trackBuffer } from '@basa/protocol';
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
      const step = takeSeat(coordinator, name(n), millis(0));
      coordinator = step.coordinator;
      return step.seat.kind === 'seated'
        ? coordinator.buffers.findIndex(({ ctx }) => step.seat.kind === 'seated' && ctx === step.seat.ctx)
        : step.seat.kind;
    });
    expect(given).toEqual([0, 0, 0, 1, 1, 1, 'needs-buffer']);
  });

  it('gives the same seat again while it lives, and frees it when it lapses unused', () => {
    let { coordinator, seat } = takeSeat(open(1), name(1), millis(0));
    expect(takeSeat(coordinator, name(1), millis(50)).seat).toEqual(seat);
    for (const n of [2, 3]) ({ coordinator, seat } = takeSeat(coordinator, name(n), millis(50)));
    expect(takeSeat(coordinator, name(4), millis(60)).seat.kind).toBe('needs-buffer');
    expect(takeSeat(coordinator, name(4), millis(100)).seat.kind).toBe('seated');
  });

  it('gives no seat in a buffer that has expired', () => {
    const coordinator = open(1);
    expect(takeSeat(coordinator, name(1), millis(10 ** 9)).seat.kind).toBe('needs-buffer');
  });
});
