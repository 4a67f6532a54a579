import { toHex } from '@basa/masking';
import { EMPTY_LEDGER, privacySpent } from '@basa/protocol';
import { granted, type OneShotFederation, reasonOf, type ShotDevice } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { budgetProblem } from '../../src/user/budget.ts';
import type { DeltaCommitment } from '../../src/user/ledger.ts';

const HOUR = 3_600_000;
const PRIVACY = { noiseMultiplier: 1, colluders: 0, delta: 1e-6, participations: 1 };

function privateWorld(participations = 1): OneShotFederation {
  const privacy = { ...PRIVACY, participations };
  return nodeFederation({ bufferSize: 2, minimum: 2, dimension: 4, level: 5, privacy });
}

/** The next version is the sum of an update of each device. */
function summed(world: OneShotFederation, ...devices: readonly ShotDevice[]): void {
  for (const device of devices) granted(device.contribute());
  world.shots.inspect();
  granted(world.shots.close(world.shots.form() as never));
}

describe('the budget of a device', () => {
  it('is charged when the upload is frozen, once, and refuses the next upload', () => {
    const world = privateWorld();
    const [first, second] = [world.shooter(), world.shooter()];
    granted(first.gather(world.shots.standings()));
    expect(first.own.ledger.deltas.size).toBe(0);
    summed(world, first, second);
    expect(privacySpent(first.own.ledger, PRIVACY)).toMatchObject({ inclusions: 1, participations: 1 });
    expect(privacySpent(first.own.ledger, PRIVACY).epsilon).toBeCloseTo(5.2, 1);
    first.own.newUpdate();
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

  it('stays charged for a sum that holds the update', () => {
    const world = privateWorld();
    const [first, second] = [world.shooter(), world.shooter()];
    summed(world, first, second);
    expect(first.release()).toEqual({ kind: 'included' });
    first.own.newUpdate();
    expect(reasonOf(first.contribute())).toBe('budget-spent');
  });

  it('is given back by a signed outcome that the upload expired, and only once', () => {
    const world = privateWorld();
    const [first, second] = [world.shooter(), world.shooter()];
    granted(first.contribute());
    expect(reasonOf(first.release())).toBe('outcome-undecided');
    expect(first.own.ledger.deltas.size).toBe(1);
    world.now = (world.now + 2 * HOUR) as typeof world.now;
    const expired = world.outcomesOf(first.own);
    expect(first.release()).toEqual({ kind: 'free' });
    expect(first.own.ledger.deltas.size).toBe(0);
    world.tick();
    first.own.newUpdate();
    summed(world, first, second);
    // The old statement is about the old upload: it gives nothing back for the new one.
    expect(reasonOf(first.release(expired))).toBe('outcome-undecided');
    expect(first.own.ledger.deltas.size).toBe(1);
  });

  it('is not given back if the authority lost its records', () => {
    const world = privateWorld();
    const device = world.shooter();
    granted(device.contribute());
    const [authority] = world.keepers;
    if (authority === undefined) throw new Error('no authority');
    authority.base.witness = undefined;
    authority.restart();
    world.now = (world.now + 9 * HOUR) as typeof world.now;
    expect(world.outcomesOf(device.own).map(({ outcome }) => outcome.status)).toEqual(['unknown']);
    expect(reasonOf(device.release())).toBe('outcome-undecided');
    expect(device.own.ledger.deltas.size).toBe(1);
  });
});

describe('a crash of a device with a budget', () => {
  /** The device dies after its n-th record and stays down. */
  function dying(n: number): { readonly charged: number; readonly left: boolean; readonly records: number } {
    const world = privateWorld();
    const device = world.shooter();
    world.records = 0;
    world.crashIn = n;
    device.own.restart = () => {
      throw new Error('stays down');
    };
    try {
      granted(device.contribute());
    } catch (error) {
      if ((error as Error).message !== 'stays down') throw error;
    }
    return { charged: device.own.ledger.deltas.size, left: world.shots.uploads.size > 0, records: world.records };
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
      const [device, other] = [world.shooter(), world.shooter()];
      world.crashIn = n;
      summed(world, device, other);
      expect(device.own.ledger.deltas.size).toBe(1);
      device.own.newUpdate();
      expect(reasonOf(device.contribute())).toBe('budget-spent');
    },
  );
});
