/** An authority hashes and verifies a long record once for all uploads of a request, also when it was restarted. */
import { equalBytes, type Suite } from '@basa/masking';
import { AttributeAuthority, batchCodec, isRefused, modelEntryCodec } from '@basa/protocol';
import type { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { verdicts, voted } from './scene.ts';

/** From now on counts how often the authority hashes these bytes, and how often it verifies a signature on them. */
function counting(world: ShotWorld, index: number, bytes: Uint8Array): { hashes: number; verifications: number } {
  const { base } = world.authority(index);
  const count = { hashes: 0, verifications: 0 };
  const suite: Suite = {
    ...base.ports.suite,
    sha256: (...parts) => {
      if (parts.length === 1 && equalBytes(parts[0] as Uint8Array, bytes)) count.hashes++;
      return base.ports.suite.sha256(...parts);
    },
    verify: (input) => {
      if (equalBytes(input.message, bytes)) count.verifications++;
      return base.ports.suite.verify(input);
    },
  };
  base.core = AttributeAuthority.restore({ ...base.ports, suite }, base.records);
  Object.assign(count, { hashes: 0, verifications: 0 });
  return count;
}

describe('the uploads of one request', () => {
  it('have the batch that holds them hashed once', () => {
    const { world, batch, shots } = voted({}, 4);
    const count = counting(world, 0, batchCodec.encode(batch));
    expect(verdicts(world.server.inspectBy(0, shots))).toEqual(Array(4).fill('good'));
    expect(count.hashes).toBe(1);
  });

  it('have the shown entry that they are on hashed and verified once, at the inspection and at the vote', () => {
    const { world, batch, votes } = voted();
    const { server } = world;
    for (const index of world.indices) server.releaseBy(index, batch, { votes });
    world.away.add(3);
    const entry = world.append({ sums: [server.closing(batch).ctx], spoilt: [] });
    world.away.clear();
    world.contributed(4);
    const shots = server.shots.slice(-4);
    const count = counting(world, 3, modelEntryCodec.statement(entry));
    expect(verdicts(server.inspectBy(3, shots))).toEqual(Array(4).fill('good'));
    expect(count).toEqual({ hashes: 1, verifications: entry.endorsements.length });
    expect(isRefused(server.voteBy(3, server.batch(shots), { models: [entry] }))).toBe(false);
    expect(count).toEqual({ hashes: 2, verifications: 2 * entry.endorsements.length });
  });
});
