import { toHex } from '@basa/masking';
import { fateOf, type JoinTag, millis } from '@basa/protocol';
import {
  CLOSE_MS,
  type Federation,
  type FederationDevice,
  granted,
  LEASE_MS,
  OPEN_MS,
  reasonOf,
} from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

/** A world with K devices. */
function worldOf(bufferSize: number, minimum = 2): { world: Federation; devices: FederationDevice[] } {
  const world = nodeFederation({ bufferSize, minimum, dimension: bufferSize + 2 });
  return { world, devices: Array.from({ length: bufferSize }, () => world.device()) };
}

/** The coordinates of the devices whose one-hot updates are in the sum, with how often. */
function counted(verdict: { kind: string; sum?: Uint32Array }): number[] {
  if (verdict.kind !== 'good' || verdict.sum === undefined) throw new Error(JSON.stringify(verdict));
  return [...verdict.sum];
}

function oneHotSum(world: Federation, ...devices: FederationDevice[]): number[] {
  return Array.from({ length: world.policy.dimension }, (_, k) =>
    devices.some((device) => device.number === k) ? 1 : 0,
  );
}

describe('a full buffer', () => {
  it.each([2, 3, 10, 100])('of K = %d opens to the exact sum, and every user learns that it is in the sum', (K) => {
    const { world, devices } = worldOf(K);
    const ctx = world.fill(devices);
    expect(counted(world.server.finish(ctx))).toEqual(oneHotSum(world, ...devices));
    for (const device of devices) {
      expect(device.release()).toEqual({ kind: 'included' });
      expect(fateOf(world.server.buffer(ctx), device.session?.member.joinTag as JoinTag)).toBe('included');
    }
  });

  it('takes the uploads in any order: no user waits for another', () => {
    const { world, devices } = worldOf(5);
    for (const device of devices) device.contribute('deposit');
    for (const device of [...devices].reverse()) granted(device.contribute());
    expect(counted(world.server.finish((devices[0] as FederationDevice).ctx))).toEqual(oneHotSum(world, ...devices));
  });

  it('makes the next version of the model, once', () => {
    const { world, devices } = worldOf(3);
    const ctx = world.fill(devices);
    world.server.finish(ctx);
    world.server.finish(ctx);
    expect(world.server.models.map(({ version }) => version)).toEqual([0, 1]);
    expect(world.server.models[1]?.sum).toEqual([1, 1, 1, 0, 0]);
  });
});

describe('drop-outs', () => {
  it.each(['seat', 'deposit', 'key'] as const)('of one user after its %s leave the sum of the others exact', (step) => {
    for (const quitter of [0, 2, 4]) {
      const { world, devices } = worldOf(5);
      for (const [n, device] of devices.entries()) granted(device.contribute(n === quitter ? step : 'upload'));
      const rest = devices.filter((_, n) => n !== quitter);
      world.now = millis(world.now + LEASE_MS + 1);
      world.server.tick();
      const ctx = (rest[0] as FederationDevice).ctx;
      expect(counted(world.server.finish(ctx, 'stalled'))).toEqual(oneHotSum(world, ...rest));
    }
  });

  it('leave a slot that is never given to another', () => {
    const { world, devices } = worldOf(3);
    const [first, second, third] = devices as [FederationDevice, FederationDevice, FederationDevice];
    first.contribute('deposit');
    world.now = millis(world.now + LEASE_MS + 1);
    world.server.tick();
    second.contribute('deposit');
    third.contribute('deposit');
    expect([first.slot, second.slot, third.slot]).toEqual([0, 1, 2]);
    expect(reasonOf(first.contribute())).toBe('slot-dropped');
  });

  it('below the minimum cannot be closed, and the authority aborts at closeBy', () => {
    const { world, devices } = worldOf(4, 3);
    const [first, second] = devices as [FederationDevice, FederationDevice];
    granted(first.contribute());
    granted(second.contribute());
    const { ctx } = first;
    expect(reasonOf(world.server.freeze(ctx, 'stalled'))).toBe('too-few');
    expect(world.authority.outcome(ctx).status).toBe('open');
    world.now = millis(world.now + OPEN_MS + CLOSE_MS);
    expect(world.authority.outcome(ctx).status).toBe('aborted');
    world.server.abort(ctx);
    expect(world.server.buffer(ctx).status).toBe('aborted');
  });
});

describe('changed and late uploads', () => {
  it('other bytes for the same slot are refused', () => {
    const { world, devices } = worldOf(3);
    const [first] = devices as [FederationDevice];
    first.contribute('key');
    first.receiveKeyAndFreeze('upload');
    const bytes = first.uploadBytes();
    const changed = bytes.slice();
    changed[changed.length - 1] = (changed.at(-1) as number) ^ 1;
    expect(reasonOf(world.server.upload(changed))).toBe('body-mismatch');
    expect(reasonOf(world.server.upload(bytes.slice(0, -1)))).toBe('body-mismatch');
    granted(world.server.upload(bytes));
    expect(reasonOf(world.server.upload(changed))).toBe('body-mismatch');
  });

  it('an upload after the buffer is frozen is refused', () => {
    const { world, devices } = worldOf(4);
    const late = devices[3] as FederationDevice;
    for (const device of devices.slice(0, 3)) granted(device.contribute());
    late.contribute('key');
    late.receiveKeyAndFreeze('upload');
    granted(world.server.freeze(late.ctx, 'stalled'));
    expect(reasonOf(world.server.upload(late.uploadBytes()))).toBe('buffer-over');
    expect(counted(world.server.finish(late.ctx, 'stalled'))).toEqual(oneHotSum(world, ...devices.slice(0, 3)));
  });

  it('a buffer cannot be frozen as resolved while a slot is expected', () => {
    const { world, devices } = worldOf(3);
    const [first, second, third] = devices as [FederationDevice, FederationDevice, FederationDevice];
    first.contribute();
    second.contribute();
    expect(reasonOf(world.server.freeze(first.ctx))).toBe('not-pending');
    third.contribute('deposit');
    expect(reasonOf(world.server.freeze(first.ctx))).toBe('not-pending');
    third.contribute();
    granted(world.server.freeze(first.ctx));
  });
});

describe('void edges', () => {
  it('of a user who seals garbage are left out, and the sum of the others is exact', () => {
    const { world, devices } = worldOf(5);
    const [, cheat] = devices as [FederationDevice, FederationDevice];
    (devices[0] as FederationDevice).contribute('deposit');
    const { sealing } = world.sealings;
    const { sealEdge } = sealing;
    const garbled: typeof sealEdge = (...input) => sealEdge(...input).map((byte) => byte ^ 1);
    Object.assign(sealing, { sealEdge: garbled });
    cheat.contribute('deposit');
    Object.assign(sealing, { sealEdge });
    for (const device of devices) granted(device.contribute());
    const { ctx } = cheat;
    expect(granted(world.server.freeze(ctx)).accepted).toEqual([0, 2, 3, 4]);
    const rest = devices.filter((device) => device !== cheat);
    expect(counted(world.server.finish(ctx))).toEqual(oneHotSum(world, ...rest));
  });
});

describe('several buffers', () => {
  it('fill side by side, with users that move on to the next one', () => {
    const { world, devices } = worldOf(3);
    const contexts = new Set<string>();
    for (let turn = 0; turn < 3; turn++) {
      for (const device of devices) {
        device.newUpdate();
        granted(device.contribute('deposit'));
        contexts.add(toHex(device.ctx));
      }
      const ctx = (devices[0] as FederationDevice).ctx;
      for (const device of devices) granted(device.contribute());
      expect(counted(world.server.finish(ctx))).toEqual(oneHotSum(world, ...devices));
    }
    expect(contexts.size).toBe(3);
    expect(world.server.models).toHaveLength(4);
  });
});
