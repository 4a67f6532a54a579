import { granted, millis, type TaskId } from '@basa/protocol';
import { EMPTY_LEDGER, privacySpent } from '@basa/protocol/internal/one-shot/ledger.ts';
import { type OneShotFederation, reasonOf, type ShotDevice } from '@basa/simulator';
import { nodeFederation } from '@basa/testkit/core/tools.ts';
import { describe, expect, it } from 'vitest';
import { budgetProblem } from '../../src/one-shot/ledger.ts';

const HOUR = 3_600_000;
const GIVEN = { serial: 7, at: millis(0), task: new Uint8Array(32) as TaskId, model: new Uint8Array(32) };
const PRIVACY = { noiseMultiplier: 1, colluders: 0, budget: { delta: 1e-6, participations: 1 } };

const limited = (participations: number) => ({
  privacy: { ...PRIVACY, budget: { ...PRIVACY.budget, participations } },
  statistics: undefined,
});

function privateWorld(participations = 1): OneShotFederation {
  const privacy = { ...PRIVACY, budget: { ...PRIVACY.budget, participations } };
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
    granted(first.gather(world.shots.newestModel()));
    expect(first.own.ledger.given).toBeUndefined();
    const task = { privacy: PRIVACY, metrics: [] };
    summed(world, first, second);
    expect(privacySpent(first.own.ledger, task)).toMatchObject({ inclusions: 1, participations: 1 });
    expect(privacySpent(first.own.ledger, task)?.epsilon).toBeCloseTo(5.2, 1);
    const withMetrics = { ...task, metrics: [{ name: 'loss', low: 0, high: 1 }] };
    expect(privacySpent(first.own.ledger, withMetrics)?.epsilon).toBeCloseTo(5.5, 1);
    expect(privacySpent(first.own.ledger, { ...task, privacy: { ...PRIVACY, budget: undefined } })).toBeUndefined();
    first.own.newUpdate();
    expect(reasonOf(first.contribute())).toBe('budget-spent');
  });

  it('stays charged, whatever became of the update', () => {
    const world = privateWorld();
    const device = world.shooter();
    granted(device.contribute());
    world.now = (world.now + 9 * HOUR) as typeof world.now;
    world.tick();
    device.own.newUpdate();
    expect(reasonOf(device.contribute())).toBe('budget-spent');
  });

  it('has room for one more until as many were given as it allows, and none in a task without noise', () => {
    const given = (uploads: number) => ({ ...EMPTY_LEDGER, given: { ...GIVEN, uploads } });
    expect(budgetProblem(EMPTY_LEDGER, limited(1))).toBeUndefined();
    expect(budgetProblem(given(1), limited(2))).toBeUndefined();
    expect(budgetProblem(given(2), limited(2))).toMatchObject({ reason: 'budget-spent' });
    expect(budgetProblem(given(2), { privacy: undefined, statistics: undefined })).toBeUndefined();
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
    return {
      charged: device.own.ledger.given?.uploads ?? 0,
      left: world.shots.uploads.size > 0,
      records: world.records,
    };
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
      expect(device.own.ledger.given?.uploads).toBe(1);
      device.own.newUpdate();
      expect(reasonOf(device.contribute())).toBe('budget-spent');
    },
  );
});
