import { beforeEach, describe, expect, it } from 'vitest';
import { Leases } from '../../src/nodes/nodes.ts';
import { type Fence, LeaseLost } from '../../src/store/sql.ts';
import type { Store } from '../../src/store/store.ts';
import { task } from '../support/store-samples.ts';
import { volatileStore } from '../support/volatile-store.ts';

const LEASE_MS = 600_000;

let store: Store;
let now: number;
let nodes: readonly [Leases, Leases];
beforeEach(async () => {
  now = 1000;
  ({ store } = await volatileStore(task, () => now));
  nodes = [node('a'), node('b')];
});

function node(holder: string): Leases {
  return new Leases({ store, leaseMs: LEASE_MS, onTrouble: () => {} }, holder);
}

/** The fences of the work that a node was let do. */
async function workOf(leases: Leases): Promise<readonly (Fence | undefined)[]> {
  const done: (Fence | undefined)[] = [];
  await leases.under(task, async (fence) => void done.push(fence));
  return done;
}

describe('the lease of a task', () => {
  it('lets one node work, again and again, and no other', async () => {
    expect(await workOf(nodes[0])).toMatchObject([{ number: 1 }]);
    expect(await workOf(nodes[1])).toEqual([]);
    expect(await workOf(nodes[0])).toMatchObject([{ number: 1 }]);
    expect(nodes.map((node) => node.has(task))).toEqual([true, false]);
  });

  it('that was given back lets another node work immediately, with a higher fence', async () => {
    await workOf(nodes[0]);
    await nodes[0].giveBack();
    expect(await workOf(nodes[1])).toMatchObject([{ number: 2 }]);
    expect(nodes.map((node) => node.has(task))).toEqual([false, true]);
  });

  it('that another node has taken stops writes of the previous holder, which then knows it', async () => {
    await workOf(nodes[0]);
    now += LEASE_MS;
    expect(await workOf(nodes[1])).toMatchObject([{ number: 2 }]);
    const write = nodes[0].under(task, (fence) => store.forgetModels(task, [0], fence));
    await expect(write).rejects.toThrow(LeaseLost);
    expect(nodes[0].has(task)).toBe(false);
    expect(await workOf(nodes[0])).toEqual([]);
  });

  it('returns immediately to a node that restarts under the same name, with the same fence', async () => {
    await workOf(nodes[0]);
    expect(await workOf(node('a'))).toMatchObject([{ number: 1 }]);
    expect(await workOf(node('c'))).toEqual([]);
  });
});
