/** An update leaves a device once: the same bytes after every crash, and no second upload of it. */
import { granted, refused } from '@basa/protocol';
import { DeviceRecord, restoreDevice } from '@basa/protocol/internal/one-shot/ledger.ts';
import { modelNameOf, ShotUpload } from '@basa/protocol/wire';
import { Crash, reasonOf } from '@basa/simulator';
import { ShotWorld } from '@basa/testkit/core/one-shot/shot-world.ts';
import { describe, expect, it } from 'vitest';
import { voted } from './scene.ts';

/** The device crashes at this point of an upload, and comes back from its records. */
function crashed({ world, device }: ReturnType<typeof fresh>, at: 'before-store' | 'after-store' | 'after-upload') {
  const { shots } = world.federation;
  const crash = (): never => {
    throw new Crash('user');
  };
  const start = granted(device.gather(shots.newestModel()));
  if (at === 'before-store') device.onMask = crash;
  if (at === 'after-store') world.federation.crashIn = 1;
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

const holds = (where: Buffer, bytes: Uint8Array): boolean => where.includes(Buffer.from(bytes));

describe('an update', () => {
  it.each(['after-store', 'after-upload'] as const)(
    'that a crash stopped %s leaves as the same bytes, once [S15]',
    (stop) => {
      const { world, device } = fresh();
      crashed({ world, device }, stop);
      const { session, ledger } = device.own;
      expect(ledger.given).toMatchObject({ serial: 10_000, uploads: 1 });
      const before = world.server.shots.map(({ body }) => body);
      const refusal = device.drive(undefined, ({ isResumed }) => refused(isResumed ? 'epoch-over' : 'body-mismatch'));
      expect(reasonOf(refusal)).toBe('epoch-over');
      expect(device.contribute()).toEqual({ kind: 'accepted' });
      expect(world.server.shots).toHaveLength(1);
      const [shot] = world.server.shots as [(typeof world.server.shots)[number]];
      expect(shot.upload).toEqual(session?.upload);
      if (stop === 'after-upload') expect(before).toEqual([shot.body]);
      expect(device.own.session?.step).toBe('acknowledged');
    },
  );

  it('that is not stored is not given, and no byte has left', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'before-store');
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
    const next = world.nextVersion();
    device.own.newUpdate();
    expect(device.contribute()).toEqual({ kind: 'accepted' });
    const name = modelNameOf(world.environment.tools.suite, next);
    expect(world.server.shots.at(-1)?.upload.header.model).toEqual(name);
  });

  it('is given on no serial below the highest that the device gave on [S17]', () => {
    const { world, device } = fresh();
    const old = world.federation.shots.newestModel();
    world.nextVersion();
    expect(device.contribute()).toEqual({ kind: 'accepted' });
    device.own.newUpdate();
    const start = granted(device.gather(old));
    expect(device.drive(start, () => ({ kind: 'accepted' }))).toEqual({ kind: 'refused', reason: 'version-given' });
  });

  it.each([
    ['another byte', (body: Uint8Array) => body.map((byte, n) => (n === 5 ? byte ^ 1 : byte))],
    ['a byte less', (body: Uint8Array) => body.subarray(1)],
    ['nothing', () => undefined],
  ] as const)('of which the disk has %s is dropped, and nothing of it is sent', (_, damaged) => {
    const { world, device } = fresh();
    crashed({ world, device }, 'after-store');
    device.own.body = damaged(device.own.body as Uint8Array);
    expect(reasonOf(device.contribute())).toBe('body-mismatch');
    expect(world.server.shots).toEqual([]);
  });

  it('is not sent once every epoch that it names has closed', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'after-store');
    const { closes } = device.own.session as NonNullable<typeof device.own.session>;
    const send = () => device.drive(undefined, () => refused('wrong-step'));
    world.pass(closes - 1 - world.now);
    expect(reasonOf(send())).toBe('wrong-step');
    world.pass(1);
    expect(reasonOf(send())).toBe('epoch-over');
  });

  it('is stored without its seeds and its input: only bytes that the server gets, and no secret', () => {
    const { world, device } = fresh();
    const seeds: Uint8Array[] = [];
    crashed({ world, device }, 'before-store');
    const { own } = device;
    const start = granted(device.gather(world.federation.shots.newestModel()));
    device.onMask = ({ plan }) => seeds.push(...plan.terms.map(({ seed }) => seed.reveal().slice()));
    let sent = new Uint8Array();
    device.drive(start, ({ upload, body }) => {
      sent = Uint8Array.from([...upload, ...body]);
      return refused('epoch-over');
    });
    const kept = Buffer.from([...own.records.flatMap((entry) => [...DeviceRecord.encode(entry)]), ...(own.body ?? [])]);
    expect(holds(kept, ShotUpload.encode(own.session?.upload as never))).toBe(true);
    expect(holds(Buffer.from(sent), own.body as Uint8Array)).toBe(true);
    expect(seeds).toHaveLength(4);
    for (const seed of seeds) expect(holds(kept, seed)).toBe(false);
    const input = own.input as Uint32Array;
    expect(holds(kept, new Uint8Array(input.buffer, input.byteOffset, input.byteLength))).toBe(false);
  });

  it('that the server refuses was given', () => {
    const { world, device } = fresh();
    crashed({ world, device }, 'after-store');
    world.pass(3_600_000);
    expect(device.contribute()).toEqual({ kind: 'refused', reason: 'epoch-over' });
    expect(device.own.ledger.given).toMatchObject({ serial: 10_000, uploads: 1 });
  });
});

it('a device is rebuilt from the bytes of its records', () => {
  const { world, device } = fresh();
  device.contribute();
  const records = [...device.own.ledgerRecords, ...device.own.records];
  const bytes = records.map((entry) => DeviceRecord.encode(entry));
  const restored = restoreDevice(world.environment.tools.suite, bytes.map(DeviceRecord.decode));
  expect(restored.ledger).toEqual(device.own.ledger);
  expect(restored.session?.step).toBe('acknowledged');
});
