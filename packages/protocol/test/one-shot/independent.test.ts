/**
 * Nothing that an authority ever sees depends on an update: with the masks, it could test guesses of the update against a hash, a checksum
 * or a length. A device runs twice with the same coins and two updates, and every byte that leaves for an authority is compared.
 */
import { crc32 } from '@basa/masking';
import { granted } from '@basa/protocol';
import { InspectRequest, ReleaseRequest, ShotHeader } from '@basa/protocol/wire';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';

interface Run {
  /** The requests of the server with the upload in them, and the header by itself. */
  readonly toAuthorities: readonly Uint8Array[];
  readonly body: Uint8Array;
  readonly upload: { readonly bodyBytes: number; readonly bodyCrc: number };
}

/** The rounding of an update has coins of its own; every other coin is the same in each run. */
function run(count: 1 | 4, update: (delta: Float32Array) => void, metrics = 0): Run {
  const world = new ShotWorld({ count, minimum: 2, seed: 7, metrics: [{ name: 'loss', low: 0, high: 4 }] });
  const device = world.device();
  device.own.metrics = { loss: metrics };
  const delta = new Float32Array(world.policy.dimension);
  update(delta);
  granted(device.contribute(delta));
  world.device().own.metrics = { loss: 1 };
  const other = world.federation.shooters[1];
  if (other === undefined) throw new Error('no second device');
  granted(other.contribute());
  const { server } = world;
  const [shot] = server.shots;
  if (shot === undefined) throw new Error('nothing was given');
  const inspection = InspectRequest.encode(server.inspectRequest(server.shots));
  for (const index of world.indices) granted(server.inspectBy(index, server.shots));
  const batch = server.batch();
  const release = server.releaseRequest(batch, { votes: server.votes(batch) });
  const header = ShotHeader.encode(shot.upload.header);
  return {
    toAuthorities: [header, inspection, ReleaseRequest.encode(release)],
    body: shot.body,
    upload: shot.upload,
  };
}

describe.each([1, 4] as const)('with %s authorities', (count) => {
  it('two updates give the authorities the same bytes, and the server another body', () => {
    const first = run(count, (delta) => delta.fill(0.5));
    const second = run(count, (delta) => delta.fill(-1, 0, 3), 4);
    expect(second.toAuthorities).toEqual(first.toAuthorities);
    expect(second.body).not.toEqual(first.body);
    expect(second.body).toHaveLength(first.body.length);
    for (const { body, upload } of [first, second])
      expect(upload).toMatchObject({ bodyBytes: body.length, bodyCrc: crc32(body) });
    expect(second.upload.bodyCrc).not.toBe(first.upload.bodyCrc);
  });
});

it('the same coins with the same update give the same body: the comparison compares something', () => {
  const [first, second] = [0, 1].map(() => run(4, (delta) => delta.fill(0.5)));
  expect(second).toEqual(first);
});
