/** An update leaves a device once: the same bytes after every crash, and no second upload of it. */
import { deviceRecordCodec, refused, restoreDevice, type UserSession, wipeSession } from '@basa/protocol';
import { Crash, granted, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { voted } from './scene.ts';

type ShotSession = Extract<UserSession, { step: 'shot' }>;

/** The device crashes at this point of an upload, and comes back from its records. */
function crashed({ world, device }: ReturnType<typeof fresh>, at: 'before-freeze' | 'after-freeze' | 'after-upload') {
  const { shots } = world.federation;
  const crash = (): never => {
    throw new Crash('user');
  };
  const start = granted(device.gather(shots.standings()));
  if (at === 'before-freeze') device.onMask = crash;
  if (at === 'after-freeze') world.federation.crashIn = 1;
  const send = () =>
    device.drive(start, ({ upload, body, isResumed }) => {
      expect(isResumed).toBe(false);
      granted(shots.take(upload, body));
      return crash();
    });
  expect(send).toThrow(Crash);
  device.onMask = undefined;
  device.own.restart();
}

function fresh() {
  const world = new ShotWorld();
  return { world, device: world.device() };
}

describe('an update', () => {
  it.each(['after-freeze', 'after-upload'] as const)(
    'that a crash stopped %s leaves as the same bytes, once [S15]',
    (stop) => {
      const { world, device } = fresh();
      crashed({ world, device }, stop);
      const { session, ledger } = device.own;
      const { header } = session as ShotSession;
      expect(ledger.given).toEqual({ version: 0, uploads: 1 });
      const before = world.server.shots.map(({ body }) => body);
      const refusal = device.drive(undefined, ({ isResumed }) => refused(isResumed ? 'epoch-over' : 'body-mismatch'));
      expect(reasonOf(refusal)).toBe('epoch-over');
      expect(device.contribute()).toEqual({ kind: 'accepted' });
      expect(world.server.shots).toHaveLength(1);
      const [shot] = world.server.shots as [(typeof world.server.shots)[number]];
      expect(shot.upload.header.joinTag).toEqual(header.joinTag);
      if (stop === 'after-upload') expect(before).toEqual([shot.body]);
      expect(device.own.session?.step).toBe('acknowledged');
    },
  );

  it('whose freeze is not durable is not given, and no byte has left', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'before-freeze');
    expect(device.own.session).toBeUndefined();
    expect(world.server.shots).toEqual([]);
    expect(device.contribute()).toEqual({ kind: 'accepted' });
  });

  it('is not sent by a device that has none', () => {
    expect(() => fresh().device.send()).toThrow('does not end from step undefined');
  });

  it('that was given is given in no other upload, and no other update is given on the same version [S15]', () => {
    const { world, device } = fresh();
    device.contribute();
    device.own.leave();
    expect(reasonOf(device.contribute())).toBe('version-given');
    device.own.newUpdate();
    expect(reasonOf(device.contribute())).toBe('version-given');
    expect(world.server.shots).toHaveLength(1);
  });

  it('may be followed by one on the next version', () => {
    const { world, batch, votes, devices } = voted();
    const [device] = devices as [(typeof devices)[number]];
    for (const index of world.indices) granted(world.server.releaseBy(index, batch, { votes }));
    world.append({ sums: [world.server.closing(batch).ctx], spoilt: [] });
    device.own.newUpdate();
    expect(device.contribute()).toEqual({ kind: 'accepted' });
    expect(world.server.shots.at(-1)?.upload.header.version).toBe(1);
  });

  it('leaves exactly as it was frozen, or does not leave', () => {
    const scene = fresh();
    crashed(scene, 'after-freeze');
    (scene.device.own.input as Uint32Array)[5] = 7;
    expect(() => scene.device.contribute()).toThrow('does not come out as it was frozen');
    const other = fresh();
    crashed(other, 'after-freeze');
    other.device.own.records = other.device.own.records.map((entry) =>
      entry.kind === 'shot' ? { ...entry, seeds: entry.seeds.map(() => new Uint8Array(32)) } : entry,
    );
    other.device.own.restart();
    expect(() => other.device.contribute()).toThrow('as it was frozen');
  });

  it('that the server refuses was given', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'after-freeze');
    world.pass(3_600_000);
    expect(device.contribute()).toEqual({ kind: 'refused', reason: 'epoch-over' });
    expect(device.own.ledger.given).toEqual({ version: 0, uploads: 1 });
  });
});

it('a device is rebuilt from the bytes of its records', () => {
  const { world, device } = fresh();
  device.contribute();
  const records = [...device.own.ledgerRecords, ...device.own.records];
  const bytes = records.map((entry) => deviceRecordCodec.encode(entry));
  const restored = restoreDevice(world.environment.tools.suite, bytes.map(deviceRecordCodec.decode));
  expect(restored.ledger).toEqual(device.own.ledger);
  expect(restored.session?.step).toBe('acknowledged');
});

describe('a frozen session', () => {
  it('has no secret once it is wiped', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'after-freeze');
    const { seeds } = device.own.session as ShotSession;
    expect(seeds).toHaveLength(4);
    wipeSession(device.own.session as ShotSession);
    for (const seed of seeds) expect(() => seed.reveal()).toThrow('wiped');
  });
});
