/** A sum whose words around the update are wrong is refused, wherever its shards are cut. */
import { packVector, plainVectorKernel, RING_32 } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import { rulesOf } from '@basa/testkit/core/tools.ts';

import { describe, expect, it } from 'vitest';
import { type SumShardTools, sumShard } from '../../src/closing/work/sum-shard.ts';

const rules = rulesOf({ bufferSize: 2, minimum: 2, dimension: 15, modulus: RING_32 });
const ELEMENTS = 24;
/** Shards begin at whole bytes; the last guard words may be cut too. */
const CUTS = [8, 20, 22];

async function opened(change: (sum: Uint32Array) => void): Promise<readonly string[]> {
  const sum = new Uint32Array(ELEMENTS);
  sum.set([2, 0, 0, 0, 2]);
  change(sum);
  const bodies = new Map([
    ['a', packVector(sum, RING_32)],
    ['b', packVector(new Uint32Array(ELEMENTS), RING_32)],
  ]);
  const blobs = {
    read: async function* (key: string, from: number, to: number) {
      yield (bodies.get(key) as Uint8Array).slice(from, to);
    },
  };
  const tools = { kernel: plainVectorKernel(), blobs } as unknown as SumShardTools;
  const ends = [...CUTS, ELEMENTS];
  const kinds = await Promise.all(
    [0, ...CUTS].map((from, n) => {
      const work = { rules, from, to: ends[n] as number, keys: ['a', 'b'], subtracted: [], weightSum: 2 };
      return sumShard({ kind: 'sum-shard', ctx: new Uint8Array(32) as Ctx, ...work }, tools);
    }),
  );
  return kinds.map(({ kind }) => kind);
}

describe('the shards of a sum', () => {
  it('are good if both ends have their guard words', async () => {
    expect(await opened(() => undefined)).toEqual(['shard', 'shard', 'shard', 'shard']);
  });

  it.each([0, 1, 2, 3, 20, 21, 22, 23])('are quarantined for a wrong guard word at place %i', async (place) => {
    const kinds = await opened((sum) => {
      sum[place] = 1;
    });
    expect(kinds).toContain('quarantine');
  });
});
