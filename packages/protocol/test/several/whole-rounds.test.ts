/** Four authorities of which three are needed: what goes on without one, what stops without two, and what a lying one can do. */

import type { KeysOf } from '@basa/protocol';
import { type Federation, granted } from '@basa/simulator';
import { atSeveralCloses, closedBy, closedTogether } from '@basa/testkit/core/several.ts';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { slotKeySealings } from '@basa/virtual-time/real-sealings';
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

  it('nothing changes if one is down, from the draw to the model', () => {
    const world = four();
    const devices = [world.device(), world.device(), world.device(), world.device()];
    world.away.add(1);
    const ctx = world.fill(devices);
    expect(world.server.finish(ctx).kind).toBe('good');
    expect(world.server.buffer(ctx).descriptor.parts).toHaveLength(3);
  });
});

describe('a self seed that does not open', () => {
  /** A buffer of four devices with the keys of all authorities. */
  function granting() {
    const { world, ctx } = atSeveralCloses();
    const grant = closedTogether(world, ctx, (request) =>
      world.authorities.map((_, index) => [index, closedBy(world, index, request)]),
    );
    const keys = granted(grant).answers.map(({ authority, answer }) => ({ authority, keys: answer.keys }));
    const wrong = (lie: KeysOf, slot: number): KeysOf => ({
      ...lie,
      keys: lie.keys.map((one) => (one.slot === slot ? { ...one, key: one.key.map((byte) => byte ^ 1) } : one)),
    });
    return { world, ctx, keys, wrong };
  }

  it('is blamed on no device if one lying authority would explain it, and opens with one more answer', () => {
    const { world, ctx, keys, wrong } = granting();
    const [first, ...others] = keys as [KeysOf, ...KeysOf[]];
    const lied = [wrong(first, 1), ...others];
    expect(world.server.openSum(ctx, lied.slice(0, 3))).toEqual({
      kind: 'quarantine',
      why: 'slots 1 or an authority cheated',
    });
    expect(world.server.openSum(ctx, lied).kind).toBe('good');
  });

  it('is blamed on its device if enough authorities answered that three of them are honest', () => {
    const { world, ctx, keys, wrong } = granting();
    // The same as a device that sealed something else to all of them.
    const unopenable = keys.map((one) => wrong(one, 1));
    expect(world.server.openSum(ctx, unopenable)).toMatchObject({ why: 'slots 1 cheated' });
    expect(world.server.openSum(ctx, unopenable.slice(1))).toMatchObject({ why: 'slots 1 or an authority cheated' });
  });
});
