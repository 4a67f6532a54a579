import { AttributeAuthority, authorityMessages, millis, restoreSecureBuffer, type SecureBuffer } from '@basa/protocol';
import { type Federation, type FederationDevice, granted, LEASE_MS } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';

const QUITTER = 1;

/** Four devices of which one quits after its key: every kind of record of server, authority and users is written. */
function run(prepare: (world: Federation) => void): { world: Federation; verdict: unknown } {
  const world = nodeFederation({ bufferSize: 4, dimension: 6 });
  const devices = Array.from({ length: 4 }, () => world.device());
  world.records = 0;
  prepare(world);
  for (const [n, device] of devices.entries()) granted(device.contribute(n === QUITTER ? 'key' : 'upload'));
  world.now = millis(world.now + LEASE_MS + 1);
  world.call('tick', () => world.server.tick());
  const verdict = world.server.finish((devices[0] as FederationDevice).ctx);
  return { world, verdict };
}

const EXPECTED = {
  kind: 'good',
  weightSum: 3 * 65_536,
  versionSum: undefined,
  metrics: {},
  sum: Uint32Array.of(1, 0, 1, 1, 0, 0),
};

describe('a crash', () => {
  const total = run(() => {}).world.records;

  it('happens at every record: there are enough of them', () => {
    expect(total).toBeGreaterThan(25);
  });

  it.each(Array.from({ length: total }, (_, n) => n + 1))(
    'after record %d of the run leaves sum and version as if it had not happened [R19]',
    (n) => {
      const { world, verdict } = run((fresh) => {
        fresh.crashIn = n;
      });
      expect(world.crashIn).toBeUndefined();
      expect(verdict).toEqual(EXPECTED);
      expect(world.server.models.map(({ version, sum }) => [version, sum])).toEqual([
        [0, []],
        [1, [1, 0, 1, 1, 0, 0]],
      ]);
    },
  );
});

describe('a lost reply', () => {
  it.each(['draw', 'deposit', 'key', 'upload', 'freeze', 'close', 'append', 'finish'])(
    'to "%s" is asked for again and answered the same',
    (step) => {
      const { world, verdict } = run((fresh) => {
        fresh.loseReplies.add(step);
      });
      expect([...world.loseReplies]).toEqual([]);
      expect(verdict).toEqual(EXPECTED);
      expect(world.server.models).toHaveLength(2);
    },
  );
});

describe('restore', () => {
  it('rebuilds the server, the authority and every user only from their records', () => {
    const { world } = run(() => {});
    for (const [name, { records, ...drawn }] of world.server.stored) {
      expect(restoreSecureBuffer(world.server.ports.suite, drawn, records)).toEqual(
        world.server.buffers.get(name) as SecureBuffer,
      );
    }
    const restored = AttributeAuthority.restore(world.authority.ports, world.authority.records);
    const ctx = (world.devices[0] as FederationDevice).ctx;
    expect(restored.buffer(ctx)).toEqual(world.authority.core.buffer(ctx));
    expect(restored.head()).toEqual(world.authority.core.head());
    for (const device of world.devices) {
      const before = device.session;
      device.restart();
      expect(device.session).toEqual(before);
    }
  });
});

describe('a rolled-back authority', () => {
  it.each(['a head ahead of its log', 'no witness', 'a witness that is not its own'])(
    'notices %s, and answers "unknown" for open buffers: no key, no release',
    (how) => {
      const world = nodeFederation({ bufferSize: 2, dimension: 4 });
      const [first, second] = [world.device(), world.device()];
      first.contribute('deposit');
      const snapshot = [...world.authority.log];
      granted(first.contribute());
      granted(second.contribute());
      const { ctx } = first;
      granted(world.server.freeze(ctx));
      world.authority.log = snapshot;
      if (how === 'no witness') world.authority.witness = undefined;
      if (how === 'a witness that is not its own')
        Object.assign(world.authority.witness as object, { signature: new Uint8Array(64) });
      world.authority.restart();
      expect(world.authority.outcome(ctx).status).toBe('unknown');
      expect(() => world.server.finish(ctx)).toThrow('buffer-over');
      world.server.abort(ctx);
      expect(world.server.buffer(ctx).status).toBe('unknown');
      world.now = millis(world.now + 10 ** 7);
      expect(world.authority.outcome(ctx).status).toBe('unknown');
    },
  );

  it('with its witness and a complete log continues as before', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 4 });
    const [first, second] = [world.device(), world.device()];
    granted(first.contribute());
    world.authority.restart();
    granted(second.contribute());
    expect(world.server.finish(first.ctx).kind).toBe('good');
  });
});

describe('an authority whose log cannot be written', () => {
  it('takes no step before its records are applied, and applies only one of two steps that began in the same state', () => {
    const world = nodeFederation({ bufferSize: 2, dimension: 4 });
    const device = world.device();
    device.contribute('deposit');
    const request = authorityMessages(2).keyRequest.decode(device.keyRequestBytes());
    const { core } = world.authority;
    const before = core.head();
    const step = core.issueKey(request, world.now);
    const late = core.issueKey(request, world.now);
    expect([step.records.length, late.records.length]).toEqual([1, 1]);
    expect(core.head()).toEqual(before);
    expect(core.buffer(device.ctx)?.slots.size).toBe(0);
    core.apply(step.records, step.decidedAt);
    expect(() => core.apply(late.records, late.decidedAt)).toThrow(/decided after \d+ records, and there are \d+/);
    expect(core.buffer(device.ctx)?.slots.size).toBe(1);
    expect(core.issueKey(request, world.now).records).toHaveLength(0);
  });
});
