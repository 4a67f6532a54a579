/** A federation of the one-shot mode in memory: sums are exact under any drop-outs and crashes. */
import { millis, shotUploadCodec } from '@basa/protocol';
import { granted, OneShotFederation, type OneShotOptions } from '@basa/simulator';
import { nodeEnvironment as environment } from '@basa/virtual-time/simulation';
import { describe, expect, it } from 'vitest';

const COUNCILS: readonly [string, Partial<OneShotOptions>][] = [
  ['one authority', {}],
  ['3 of 4 authorities', { council: { authorities: 4, threshold: 3 }, tolerated: 1 }],
];

function filled(options: Partial<OneShotOptions>, devices = 3): OneShotFederation {
  const world = new OneShotFederation(environment, { bufferSize: 4, ...options });
  for (let n = 0; n < devices; n++) granted(world.shooter().contribute());
  world.shots.inspect();
  return world;
}

function closed(world: OneShotFederation) {
  const ctx = world.shots.form();
  if (ctx === undefined) throw new Error('no batch');
  return { ctx, verdict: granted(world.shots.close(ctx)) };
}

describe.each(COUNCILS)('with %s', (_, options) => {
  it('the sum of a batch is the sum of its updates, and makes the next version', () => {
    const world = filled(options);
    const { ctx, verdict } = closed(world);
    expect(verdict).toMatchObject({ kind: 'good' });
    expect([...(verdict as { sum: Uint32Array }).sum]).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
    expect(world.server.entry()).toMatchObject({ version: 1, sums: [ctx], spoilt: [] });
    expect(world.shooters.map((device) => device.release().kind)).toEqual(['included', 'included', 'included']);
  });

  it('gives the same answer to the same upload, and no other sum has it', () => {
    const world = filled(options);
    const again = [...world.shots.uploads.values()].map(({ upload, body }) =>
      world.shots.take(shotUploadCodec.encode(upload), body),
    );
    expect(again).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }, { kind: 'accepted' }]);
    closed(world);
    expect(world.shots.form()).toBeUndefined();
  });

  it('frees an update that no batch took, once the vote window is over', () => {
    const world = filled(options, 1);
    const [device] = world.shooters;
    expect(world.shots.form()).toBeUndefined();
    expect(device?.release()).toMatchObject({ reason: 'outcome-undecided' });
    world.now = millis(world.now + 3_600_000 + 900_000);
    expect(device?.release()).toEqual({ kind: 'free' });
    expect(device?.own.ledger.deltas.size).toBe(0);
  });

  it('refuses an upload whose vote window is over, and batches the later ones without it', () => {
    const world = filled({ ...options, minimum: 2 }, 1);
    const [late] = world.shots.uploads.keys();
    world.now = millis(world.now + 3_600_000 + 900_000);
    for (const keeper of world.keepers) keeper.openEpoch();
    for (let n = 0; n < 2; n++) granted(world.shooter().contribute());
    world.shots.inspect();
    const { ctx } = closed(world);
    expect(world.shots.batch(ctx).batch.uploads).toHaveLength(2);
    expect(world.shots.uploads.get(late ?? '')?.verdict).toBe('epoch-over');
  });

  it('dissolves a batch that no authority votes for any more', () => {
    const world = filled(options);
    const ctx = world.shots.form();
    world.now = millis(world.now + 3_600_000 + 900_000);
    if (ctx === undefined) throw new Error('no batch');
    expect(world.shots.close(ctx)).toMatchObject({ reason: 'epoch-over' });
    expect(world.shots.batch(ctx).end).toBe('aborted');
    expect(world.shooters.map((device) => device.release())).toEqual(new Array(3).fill({ kind: 'free' }));
  });

  it('a crash after any record changes nothing', () => {
    const records = filledRecords(options);
    expect(records).toBeGreaterThan(10);
    // With several authorities many records are alike.
    for (let n = 1; n <= records; n += options.council === undefined ? 1 : 4) {
      const world = new OneShotFederation(environment, { bufferSize: 4, ...options });
      const devices = [world.shooter(), world.shooter(), world.shooter()];
      world.crashIn = n;
      for (const device of devices) granted(device.contribute());
      world.call('inspect', () => world.shots.inspect());
      const ctx = world.call('form', () => world.shots.form() ?? [...world.shots.batches.values()][0]?.ctx);
      if (ctx === undefined) throw new Error(`no batch after a crash at record ${n}`);
      const verdict = granted(world.shots.close(ctx));
      expect([...(verdict as { sum: Uint32Array }).sum]).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
      expect(world.server.entry().version).toBe(1);
    }
  });
});

function filledRecords(options: Partial<OneShotOptions>): number {
  const world = new OneShotFederation(environment, { bufferSize: 4, ...options });
  const devices = [world.shooter(), world.shooter(), world.shooter()];
  const before = world.records;
  for (const device of devices) granted(device.contribute());
  world.shots.inspect();
  closed(world);
  return world.records - before;
}

/** Two batches that make one version, with a crash at the n-th record. */
function closedTwice(world: OneShotFederation, crashIn?: number): void {
  const devices = Array.from({ length: 6 }, () => world.shooter());
  world.crashIn = crashIn;
  for (const device of devices) granted(device.contribute());
  world.call('inspect', () => world.shots.inspect());
  for (let n = 0; n < 2; n++) {
    world.call('form', () => world.shots.form());
    for (const { ctx, end } of world.shots.batches.values()) if (end === undefined) granted(world.shots.close(ctx));
  }
}

describe('a version of two batches', () => {
  const options = { bufferSize: 3, minimum: 3, sumsPerVersion: 2 };

  it('is made once, of each of them, after a crash at any record', () => {
    const calm = new OneShotFederation(environment, options);
    const before = calm.records;
    closedTwice(calm);
    for (let n = 1; n <= calm.records - before; n++) {
      const world = new OneShotFederation(environment, options);
      closedTwice(world, n);
      const { version, sums } = world.server.entry();
      expect([n, version, sums.length]).toEqual([n, 1, 2]);
      expect([...world.shots.batches.values()].map(({ end }) => end)).toEqual(['included', 'included']);
    }
  });

  it('is made of one of them if no other comes', () => {
    const world = filled(options);
    const { ctx } = closed(world);
    expect(world.server.entry().version).toBe(0);
    world.shots.closeVersion();
    expect(world.server.entry()).toMatchObject({ version: 1, sums: [ctx] });
    expect(world.shots.batch(ctx)).toMatchObject({ version: 1, end: 'included' });
  });
});

it('with one of four authorities away, and with one that lost its log, batches close', () => {
  const world = filled({ council: { authorities: 4, threshold: 3 }, tolerated: 1 });
  world.away.add(2);
  expect(closed(world).verdict.kind).toBe('good');
  const again = filled({ council: { authorities: 4, threshold: 3 }, tolerated: 1 });
  again.keepers[1]?.restore(3);
  expect(closed(again).verdict.kind).toBe('good');
});

it('an authority that was restored from an old copy knows no uploads of its earlier epochs', () => {
  const world = filled({});
  const [keeper] = world.keepers;
  keeper?.restore((keeper.base.log.length as number) - 1);
  const ctx = world.shots.form();
  expect(ctx && world.shots.close(ctx)).toMatchObject({ reason: 'not-inspected' });
  expect(world.outcomesOf(world.shooters[0]?.own as never)[0]?.outcome.status).toBe('unknown');
});

describe.each(COUNCILS)('a copy of a federation with %s', (_, options) => {
  it('continues where the federation stands, and changes nothing there', () => {
    const world = filled(options);
    const before = JSON.stringify([world.shots.disk, world.keepers[0]?.base.log, world.records]);
    const copies = [world.copy(), world.copy().copy()];
    for (const copy of copies) {
      const { verdict } = closed(copy);
      expect([...(verdict as { sum: Uint32Array }).sum]).toEqual([1, 1, 1, 0, 0, 0, 0, 0]);
      expect(copy.server.entry().version).toBe(1);
      expect(copy.shooters.map((device) => device.release().kind)).toEqual(['included', 'included', 'included']);
      granted(copy.shooter().contribute());
    }
    expect(JSON.stringify([world.shots.disk, world.keepers[0]?.base.log, world.records])).toBe(before);
    expect(world.server.entry().version).toBe(0);
    expect(world.shooters.map((device) => device.release())).toMatchObject(
      new Array(3).fill({ reason: 'outcome-undecided' }),
    );
  });

  it('draws no seed that was drawn before', () => {
    const world = filled(options);
    const copy = world.copy();
    const [one, other] = [world, copy].map(({ randomBytes }) => randomBytes(32).join());
    expect(one).not.toBe(other);
  });
});
