/** An update leaves a device once: the same bytes after every crash, and no second upload of it. */
import { type Device, restoreDevice, type UserSession, wipeSession } from '@basa/protocol';
import { granted } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { voted } from './scene.ts';

type ShotSession = Extract<UserSession, { step: 'shot' }>;

function fresh() {
  const world = new ShotWorld();
  return { world, device: world.device() };
}

describe('an update', () => {
  it.each(['after-freeze', 'after-upload'] as const)(
    'that a crash stopped %s leaves as the same bytes, once [S15]',
    (stop) => {
      const { world, device } = fresh();
      expect(device.contribute(stop)).toEqual({ kind: 'stopped' });
      const { session, ledger } = device.device;
      const { header } = session as ShotSession;
      expect(ledger.deltas.size).toBe(1);
      const before = world.server.shots.map(({ body }) => body);
      expect(device.contribute()).toEqual({ kind: 'acknowledged' });
      expect(world.server.shots).toHaveLength(1);
      const [shot] = world.server.shots as [(typeof world.server.shots)[number]];
      expect(shot.upload.header.joinTag).toEqual(header.joinTag);
      if (stop === 'after-upload') expect(before).toEqual([shot.body]);
      expect(device.device.session?.step).toBe('acknowledged');
    },
  );

  it('whose freeze is not durable has given nothing away, and no byte has left', () => {
    const { world, device } = fresh();
    expect(device.contribute('before-freeze')).toEqual({ kind: 'stopped' });
    expect(device.device.session).toBeUndefined();
    expect(world.server.shots).toEqual([]);
    expect(device.contribute()).toEqual({ kind: 'acknowledged' });
  });

  it('that was given is given in no other upload, and no other on the same version [S15] [S17]', () => {
    const { world, device } = fresh();
    device.contribute();
    expect(device.contribute()).toEqual({ kind: 'left', reason: 'delta-committed' });
    device.deltaId = world.randomBytes(16);
    expect(device.contribute()).toEqual({ kind: 'left', reason: 'version-given' });
    expect(world.server.shots).toHaveLength(1);
  });

  it('may be followed by one on the next version', () => {
    const { world, batch, votes, devices } = voted();
    const [device] = devices as [(typeof devices)[number]];
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    world.append({ sums: [world.server.closing(batch).ctx], spoilt: [] });
    device.deltaId = world.randomBytes(16);
    expect(device.contribute()).toEqual({ kind: 'acknowledged' });
    expect(world.server.shots.at(-1)?.upload.header.version).toBe(1);
  });

  it('comes out as it was frozen, or not at all', () => {
    const { device } = fresh();
    device.contribute('after-freeze');
    (device.input as Uint32Array)[5] = 7;
    expect(device.contribute()).toMatchObject({
      kind: 'damaged',
      problem: expect.stringContaining('does not come out as it was frozen'),
    });
    const other = fresh();
    other.device.contribute('after-freeze');
    other.device.records = other.device.records.map((entry) =>
      entry.kind === 'shot' ? { ...entry, seeds: entry.seeds.map(() => new Uint8Array(32)) } : entry,
    );
    expect(other.device.contribute()).toMatchObject({
      kind: 'damaged',
      problem: expect.stringContaining('as it was frozen'),
    });
  });

  it('that the server refuses is held: only authorities free it', () => {
    const { world, device } = fresh();
    device.contribute('after-freeze');
    world.pass(3_600_000);
    expect(device.contribute()).toEqual({ kind: 'held', reason: 'epoch-over' });
    expect(device.device.ledger.deltas.size).toBe(1);
  });
});

describe('a frozen session', () => {
  it('is what its records give, and has no secret once it is wiped', () => {
    const { world, device } = fresh();
    device.contribute('after-freeze');
    const { suite } = world.environment.tools;
    const restored: Device = device.device;
    expect(restoreDevice(suite, device.records).ledger).toEqual(restored.ledger);
    const { seeds } = restored.session as ShotSession;
    expect(seeds).toHaveLength(4);
    wipeSession(restored.session as ShotSession);
    for (const seed of seeds) expect(() => seed.reveal()).toThrow('wiped');
  });
});
