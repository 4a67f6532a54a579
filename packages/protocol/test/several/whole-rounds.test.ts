/** Four authorities of which three are needed: what goes on without one, what stops without two, and what a lying one can do. */

import { slotKeySealings } from '@basa/experiments/real-sealings';
import type { Federation } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

function four(options: { threshold?: number } = {}): Federation {
  const threshold = options.threshold ?? 3;
  return nodeFederation({
    bufferSize: 4,
    sealings: slotKeySealings(4),
    council: { authorities: 4, threshold },
  });
}

describe('with 3 of 4 authorities', () => {
  it('a buffer fills, closes by votes and opens to its sum', () => {
    const world = four();
    const ctx = world.fill([world.device(), world.device(), world.device(), world.device()]);
    expect(world.server.finish(ctx).kind).toBe('good');
    expect(world.server.models.at(-1)?.sum.slice(0, 4)).toEqual([1, 1, 1, 1]);
    expect(world.server.buffer(ctx).status).toBe('included');
  });

  it('nothing changes where one is away, from the draw to the model', () => {
    const world = four();
    const devices = [world.device(), world.device(), world.device(), world.device()];
    world.away.add(1);
    const ctx = world.fill(devices);
    expect(world.server.finish(ctx).kind).toBe('good');
    expect(world.server.buffer(ctx).descriptor.parts).toHaveLength(3);
  });
});
