/**
 * Faults of the one-shot mode, named by one number: parties crash after any record, replies are lost and requests
 * doubled, authorities are away or restored from old copies, epochs end. Afterwards every acknowledged update has one
 * end, and is in at most one sum.
 */
import { toHex } from '@basa/masking';
import { type Ctx, isRefused, millis, type ShotOutcomeOf } from '@basa/protocol';
import { OneShotFederation, type ShotDevice } from '@basa/simulator';
import { Dice } from './dice.ts';
import { symbolicEnvironment } from './symbolic-environment.ts';

export const SHOT_ENDS = ['included', 'expired', 'quarantined', 'refused', 'unknown'] as const;
export type ShotEnd = (typeof SHOT_ENDS)[number];

export interface ShotFaults {
  readonly seed: number;
  readonly batches: number;
  readonly updates: number;
  readonly ends: Readonly<Record<ShotEnd, number>>;
  readonly broken: readonly string[];
}

/** An update that was acknowledged. */
interface Given {
  readonly device: ShotDevice;
  readonly name: Ctx;
  readonly deltaId: Uint8Array;
  readonly coordinate: number;
  isFreed: boolean;
}

const HOUR_MS = 3_600_000;
const STEPS = ['shot', 'inspect', 'vote', 'release', 'close', 'outcome', 'append', 'adopt', 'standings', 'form'];
const COUNCILS = [{}, { council: { authorities: 4, threshold: 3 }, tolerated: 1 }];

export function runShotFaults(seed: number): ShotFaults {
  const run = new FaultyRun(seed);
  for (let round = 0; round < 10; round++) run.round();
  run.settle();
  return run.report();
}

class FaultyRun {
  readonly #seed: number;
  readonly #dice: Dice;
  readonly #world: OneShotFederation;
  readonly #devices: ShotDevice[];
  readonly #given: Given[] = [];
  readonly #broken: string[] = [];
  #batches = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#dice = new Dice(seed);
    const shape = this.#dice.pick(COUNCILS);
    this.#world = new OneShotFederation(symbolicEnvironment, { bufferSize: 3, minimum: 2, dimension: 6, ...shape });
    this.#devices = Array.from({ length: 6 }, () => this.#world.shooter());
  }

  round(): void {
    const dice = this.#dice;
    const world = this.#world;
    this.#mishap();
    for (const device of dice.shuffled(this.#devices).slice(0, 1 + dice.below(4))) this.#give(device);
    this.#mishap();
    this.#survive('inspect', () => world.shots.inspect());
    this.#mishap();
    this.#closeAll();
    if (dice.chance(0.3)) this.#ask(dice.pick(this.#devices));
    if (dice.chance(0.2)) world.now = millis(world.now + dice.pick([0.3, 1.3, 3]) * HOUR_MS);
    world.tick();
  }

  /** Draws the faults of the next steps. */
  #mishap(): void {
    const dice = this.#dice;
    const world = this.#world;
    if (dice.chance(0.6)) world.crashIn = 1 + dice.below(8);
    for (const step of STEPS) if (dice.chance(0.2)) world.loseReplies.add(step);
    world.away.clear();
    if (world.keepers.length > 1 && dice.chance(0.3)) world.away.add(dice.below(world.keepers.length));
    if (!dice.chance(0.05)) return;
    const keeper = dice.pick(world.keepers);
    keeper.restore(keeper.base.log.length - dice.below(4));
    this.#survive('epoch', () => keeper.openEpoch());
  }

  #survive<Answer>(step: string, work: () => Answer): Answer {
    return this.#world.call(step, work);
  }

  #give(device: ShotDevice): void {
    if (device.own.session?.step === 'acknowledged') device.own.newUpdate();
    if (isRefused(this.#contribute(device)) || device.own.session?.step !== 'acknowledged') return;
    const { ctx } = device.own.session.member;
    if (this.#given.some(({ name }) => toHex(name) === toHex(ctx))) return;
    const { deltaId, number: coordinate } = device.own;
    this.#given.push({ device, name: ctx, deltaId, coordinate, isFreed: false });
  }

  /** Now and then with a coordinate that no honest update has: the sum is quarantined. */
  #contribute(device: ShotDevice): object {
    const { crashIn } = this.#world;
    if (device.own.session !== undefined || crashIn !== undefined || !this.#dice.chance(0.2))
      return device.contribute();
    const start = device.gather(this.#world.shots.standings());
    const { input } = device.own;
    if (isRefused(start) || input === undefined) return start;
    input[input.length - 1] = 2 ** 30;
    return device.send(start);
  }

  /** Closes batches that wait first, then new ones. */
  #closeAll(): void {
    const { shots } = this.#world;
    const waiting = [...shots.batches.values()].filter(({ end }) => end === undefined);
    for (const { ctx } of waiting) this.#close(ctx);
    const ctx = this.#survive('form', () => shots.form());
    if (ctx !== undefined) this.#close(ctx);
  }

  #close(ctx: Ctx): void {
    const { shots } = this.#world;
    const verdict = shots.close(ctx);
    if (isRefused(verdict)) return;
    this.#batches++;
    if (verdict.kind !== 'good') return;
    const { batch } = shots.batch(ctx);
    const expected = new Array<number>(this.#world.policy.dimension).fill(0);
    for (const name of batch.uploads) {
      const one = this.#given.find((given) => toHex(given.name) === toHex(name));
      if (one !== undefined) expected[one.coordinate] = (expected[one.coordinate] ?? 0) + 1;
    }
    if (verdict.sum.join() !== expected.join()) this.#broken.push('a sum is not that of its updates');
  }

  /** The device asks twice, and gets the same answer. */
  #ask(device: ShotDevice): void {
    const given = this.#given.find((one) => !one.isFreed && toHex(one.deltaId) === toHex(device.own.deltaId));
    if (given === undefined || device.own.session?.step !== 'acknowledged') return;
    if (this.#isFree(given)) device.own.leave();
  }

  #isFree(given: Given): boolean {
    const { device } = given;
    device.own.deltaId = given.deltaId;
    const [first, second] = [0, 1].map(() => this.#world.outcomesOf(device.own));
    if (statusesOf(first) !== statusesOf(second)) this.#broken.push('asked again, an authority says something else');
    given.isFreed = device.release(first).kind === 'free';
    return given.isFreed;
  }

  /** All parties are present again; every batch that can be closed is closed, and every device asks after the last vote. */
  settle(): void {
    const world = this.#world;
    world.crashIn = undefined;
    world.loseReplies.clear();
    world.away.clear();
    for (let turn = 0; turn < 2; turn++) {
      world.shots.inspect();
      this.#closeAll();
    }
    world.now = millis(world.now + 1.3 * HOUR_MS);
    for (const given of this.#given) if (!given.isFreed) this.#isFree(given);
  }

  report(): ShotFaults {
    const ends = { included: 0, expired: 0, quarantined: 0, refused: 0, unknown: 0 };
    for (const given of this.#given) ends[this.#endOf(given)]++;
    const broken = [...new Set(this.#broken)];
    return { seed: this.#seed, batches: this.#batches, updates: this.#given.length, ends, broken };
  }

  #endOf({ name, isFreed }: Given): ShotEnd {
    const { shots } = this.#world;
    const holding = shots.living.filter(({ batch }) => batch.uploads.some((one) => toHex(one) === toHex(name)));
    const ended = holding.flatMap(({ end }) => (end === undefined || end === 'aborted' ? [] : end));
    if (ended.length > 1) this.#broken.push('an update is in two sums');
    if (ended.length > 0 && isFreed) this.#broken.push('an update that was called expired is in a sum');
    if (ended[0] !== undefined) return ended[0];
    if (isFreed) return 'expired';
    const { verdict } = shots.shot(name);
    return verdict === 'good' || verdict === 'waiting' ? 'unknown' : 'refused';
  }
}

function statusesOf(outcomes: readonly ShotOutcomeOf[] = []): string {
  return outcomes.map(({ authority, outcome }) => `${authority} ${outcome.status}`).join();
}
