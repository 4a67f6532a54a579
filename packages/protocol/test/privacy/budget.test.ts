import { toHex } from '@basa/masking';
import { EMPTY_LEDGER, millis, privacySpent, type UserSession } from '@basa/protocol';
import { CLOSE_MS, type Federation, type FederationDevice, granted, OPEN_MS, reasonOf } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { budgetProblem } from '../../src/user/budget.ts';
import type { DeltaCommitment } from '../../src/user/ledger.ts';

const PRIVACY = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations: 1 };

function privateWorld(participations = 1): Federation {
  const privacy = { ...PRIVACY, participations };
  return nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, level: 5, privacy });
}

function fillBuffer(world: Federation, ...devices: readonly FederationDevice[]): void {
  for (const device of devices) granted(device.contribute());
  world.server.finish((devices[0] as FederationDevice).ctx);
}

function abortOpen(world: Federation): void {
  world.now = millis(world.now + OPEN_MS + CLOSE_MS + 1);
  world.authority.restart();
}

describe('the budget of a device', () => {
  it('is charged when the upload is frozen, once, and refuses the next buffer', () => {
    const world = privateWorld();
    const [first, second] = [world.device(), world.device()];
    granted(first.contribute('key'));
    expect(first.ledger.deltas.size).toBe(0);
    granted(first.contribute());
    expect(privacySpent(first.ledger, PRIVACY)).toMatchObject({ inclusions: 1, participations: 1 });
    expect(privacySpent(first.ledger, PRIVACY).epsilon).toBeCloseTo(5.2, 1);
    granted(second.contribute());
    first.newUpdate();
    expect(reasonOf(first.contribute())).toBe('budget-spent');
  });

  it('lets an update that is charged already be given again, and no other', () => {
    const [charged, other] = [Uint8Array.of(1), Uint8Array.of(2)];
    const commitment = { ctx: new Uint8Array(32), joinTag: new Uint8Array(32) } as unknown as DeltaCommitment;
    const ledger = { ...EMPTY_LEDGER, deltas: new Map([[toHex(charged), commitment]]) };
    expect(budgetProblem(ledger, PRIVACY, charged)).toBeUndefined();
    expect(budgetProblem(ledger, PRIVACY, other)).toMatchObject({ reason: 'budget-spent' });
    expect(budgetProblem(ledger, PRIVACY)).toMatchObject({ reason: 'budget-spent' });
    expect(budgetProblem(ledger, undefined)).toBeUndefined();
  });

  it('is checked again when the upload is frozen, so that a charge made meanwhile counts', () => {
    const world = privateWorld();
    const device = world.device();
    granted(device.contribute('key'));
    const { ctx, joinTag } = (device.session as UserSession).member;
    device.ledger = { ...device.ledger, deltas: new Map([['00', { ctx, joinTag, version: 7, epochs: [] }]]) };
    expect(reasonOf(device.contribute())).toBe('budget-spent');
    expect(device.ledger.deltas.size).toBe(1);
  });

  it('stays charged for a sum that holds the update, applied or not', () => {
    const world = privateWorld();
    const [first, second] = [world.device(), world.device()];
    fillBuffer(world, first, second);
    expect(first.release()).toEqual({ kind: 'included' });
    first.newUpdate();
    expect(reasonOf(first.contribute())).toBe('budget-spent');
  });

  it('is given back by a signed outcome that the buffer was aborted, and only once', () => {
    const world = privateWorld();
    const [first, second] = [world.device(), world.device()];
    granted(first.contribute());
    const { ctx } = first;
    const undecided = world.authority.outcome(ctx);
    expect(reasonOf(first.release())).toBe('outcome-undecided');
    expect(first.ledger.deltas.size).toBe(1);
    abortOpen(world);
    expect(first.release()).toEqual({ kind: 'free' });
    expect(first.ledger.deltas.size).toBe(0);
    expect(undecided.status).toBe('open');
    first.newUpdate();
    fillBuffer(world, first, second);
    // The old word is about the old buffer: it gives nothing back for the new one.
    const replayed = world.authority.outcome(ctx);
    expect(replayed.status).toBe('aborted');
    world.authority.outcome = () => replayed;
    expect(reasonOf(first.release())).toBe('outcome-invalid');
    expect(first.ledger.deltas.size).toBe(1);
  });

  it('is given back by a signed outcome that the buffer closed without the device', () => {
    const privacy = { ...PRIVACY, participations: 1 };
    const world = nodeFederation({ bufferSize: 3, minimum: 2, dimension: 4, level: 5, privacy });
    const [late, second, third] = [world.device(), world.device(), world.device()];
    // Its upload is frozen, and so charged, and never arrives.
    granted(late.contribute('key'));
    late.receiveKeyAndFreeze('upload');
    expect(late.ledger.deltas.size).toBe(1);
    for (const device of [second, third]) granted(device.contribute());
    world.now = millis(world.now + 1001);
    world.server.tick();
    world.server.finish(late.ctx);
    expect(late.release()).toEqual({ kind: 'free' });
    expect(late.ledger.deltas.size).toBe(0);
  });

  it('is not given back if the authority lost its records', () => {
    const world = privateWorld();
    const device = world.device();
    const snapshot = [...world.authority.log];
    granted(device.contribute());
    world.authority.log = snapshot;
    world.authority.restart();
    expect(world.authority.outcome(device.ctx).status).toBe('unknown');
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    expect(device.ledger.deltas.size).toBe(1);
  });
});

describe('a crash of a device with a budget', () => {
  /** The device dies after its n-th record and stays down. */
  function dying(n: number): { readonly charged: number; readonly left: boolean; readonly records: number } {
    const world = privateWorld();
    const device = world.device();
    world.records = 0;
    world.crashIn = n;
    device.restart = () => {
      throw new Error('stays down');
    };
    try {
      granted(device.contribute());
    } catch (error) {
      if ((error as Error).message !== 'stays down') throw error;
    }
    const buffers = [...world.server.buffers.values()];
    const left = buffers.some(({ slots }) => slots.some(({ header }) => header !== undefined));
    return { charged: device.ledger.deltas.size, left, records: world.records };
  }

  const { records } = dying(Number.MAX_SAFE_INTEGER);

  it.each(Array.from({ length: records }, (_, n) => n + 1))(
    'after record %d charges never too little and at most one inclusion too much',
    (n) => {
      const { charged, left } = dying(n);
      expect(charged).toBeGreaterThanOrEqual(left ? 1 : 0);
      expect(charged).toBeLessThanOrEqual(1);
    },
  );

  it.each(Array.from({ length: records }, (_, n) => n + 1))(
    'after record %d, and a restart, has charged once and stays stopped',
    (n) => {
      const world = privateWorld();
      const [device, other] = [world.device(), world.device()];
      world.crashIn = n;
      granted(device.contribute());
      granted(other.contribute());
      world.server.finish(device.ctx);
      expect(device.ledger.deltas.size).toBe(1);
      device.newUpdate();
      expect(reasonOf(device.contribute())).toBe('budget-spent');
    },
  );
});

describe('the cap of the authority', () => {
  /** A device that forgets what it spent. */
  function forgetful(world: Federation, device: FederationDevice): void {
    device.newUpdate();
    device.ledger = { ...device.ledger, deltas: new Map() };
    world.authority.restart();
  }

  it('refuses a key to a device that was in as many sums as the policy allows, even if its ledger has fewer', () => {
    const world = privateWorld(2);
    const [first, second, third] = [world.device(), world.device(), world.device()];
    fillBuffer(world, first, second);
    forgetful(world, first);
    fillBuffer(world, first, third);
    forgetful(world, first);
    expect(reasonOf(first.contribute())).toBe('budget-spent');
    // The others have one left.
    second.newUpdate();
    expect(second.contribute('key').kind).toBe('accepted');
  });

  it('counts open buffers until they have ended', () => {
    const world = privateWorld(1);
    const device = world.device();
    granted(device.contribute('key'));
    forgetful(world, device);
    // The server seats it in the same buffer again; it takes another.
    granted(world.device().contribute('key'));
    expect(reasonOf(device.contribute())).toBe('budget-reserved');
    abortOpen(world);
    world.authority.core.apply(world.authority.core.tick(world.now).records);
    device.newUpdate();
    expect(device.contribute('key').kind).toBe('accepted');
  });

  it('counts a buffer that was lost to a roll-back as a sum', () => {
    const world = privateWorld(1);
    const device = world.device();
    granted(device.contribute('key'));
    world.authority.witness = undefined;
    world.authority.restart();
    forgetful(world, device);
    expect(reasonOf(device.contribute())).toBe('budget-spent');
  });
});
