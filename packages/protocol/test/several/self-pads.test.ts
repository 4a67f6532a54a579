/** Self seeds of several authorities, one of which lies about what opens them. */
import { slotSealing } from '@basa/protocol';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { granted } from '@basa/simulator';
import { atSeveralCloses, closedBy, closedTogether } from '@basa/testkit/core/several.ts';
import { expect, it } from 'vitest';

const ALL = [0, 1, 2, 3];

/**
 * The number of keys made while a sum is opened: one for each set of pads that is tried, and as many for edges each
 * time.
 */
function keysMade(liars: readonly number[]): number {
  const { world, ctx } = atSeveralCloses();
  const { answers } = granted(
    closedTogether(world, ctx, (request) => ALL.map((n) => [n, closedBy(world, n, request)])),
  );
  const keys = answers.map(({ authority, answer }) => ({
    authority,
    keys: answer.keys.map((one) =>
      liars.includes(authority) && one.role === 'self' ? { ...one, key: nodeRandomBytes(32) } : one,
    ),
  }));
  let made = 0;
  const counted = {
    ...nodeSuite,
    x25519(secret: Uint8Array) {
      made++;
      return nodeSuite.x25519(secret);
    },
  };
  Object.assign(world.sealings, { sealing: slotSealing(counted, ALL.length) });
  expect(world.server.openSum(ctx, keys).kind).toBe('good');
  return made;
}

it('an authority that lies about self seeds costs one search among sets of authorities, and no search for later slots', () => {
  // Three of its sets come before the one without it.
  expect(keysMade([0]) - keysMade([])).toBe(3);
  expect(keysMade([1]) - keysMade([])).toBe(2);
  expect(keysMade([3]) - keysMade([])).toBe(0);
});
