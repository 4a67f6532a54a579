/**
 * Runs of an honest server in which messages are lost and services start again or come back from backups: afterwards every acknowledged
 * update is in one sum or has ended with a reason, and every version is the sum of its updates.
 */
import { SERVER_PATH } from '@basa/protocol/http';
import { ALONE, deviceStore, THREE_OF_FOUR, World } from '@basa/testkit/world/world.ts';
import { Dice } from './dice.ts';

export interface FaultyRun {
  readonly seed: number;
  readonly versions: number;
  readonly acknowledged: number;
  /** By the word of the server. */
  readonly fates: Readonly<Record<string, number>>;
  readonly broken: readonly string[];
}

interface Given {
  readonly place: number;
  readonly upload: string;
}

const HOUR_MS = 3_600_000;
const DEVICES = 6;
const ROUNDS = 6;
const K = 3;
const LOST = 0.08;

export async function runFaults(seed: number): Promise<FaultyRun> {
  const dice = new Dice(seed);
  const shape = dice.pick([ALONE, THREE_OF_FOUR]);
  const world = await World.open({ shape, policy: { bufferSize: K, minimum: 2 } });
  try {
    const run = new Run(world, dice);
    for (let round = 0; round < ROUNDS; round++) await run.round();
    await run.settle();
    return { seed, ...(await run.report()) };
  } finally {
    await world.close();
  }
}

class Run {
  readonly #world: World;
  readonly #dice: Dice;
  readonly #stores = Array.from({ length: DEVICES }, () => deviceStore());
  readonly #given: Given[] = [];
  #isLossy = false;

  constructor(world: World, dice: Dice) {
    this.#world = world;
    this.#dice = dice;
    world.wire.faults.push(() => {
      if (!this.#isLossy || !dice.chance(LOST)) return undefined;
      return dice.pick(['lost', 'answer-lost'] as const);
    });
  }

  async round(): Promise<void> {
    const dice = this.#dice;
    this.#isLossy = true;
    for (const place of dice.shuffled([...this.#stores.keys()]).slice(0, 2 + dice.below(4))) await this.#give(place);
    await this.#world.tick().catch(() => undefined);
    this.#isLossy = false;
    if (dice.chance(0.3)) await dice.pick(this.#world.authorities).restart();
    if (dice.chance(0.3)) await this.#world.restartServer();
    if (dice.chance(0.15)) await dice.pick(this.#world.authorities).copied()();
    if (dice.chance(0.2)) this.#world.elapse(dice.pick([0.3, 1.3, 3]) * HOUR_MS);
    await this.#turns(3);
  }

  /** A device starts with its store, ends what it began, and gives on the newest model. */
  async #give(place: number): Promise<void> {
    try {
      const device = await this.#world.device({ store: this.#stores[place] as ReturnType<typeof deviceStore> });
      this.#acknowledged(place, await device.resume());
      const { version, parameters } = await device.model();
      const delta = Float32Array.from(parameters, (_, n) => (n === place ? 1 : 0));
      this.#acknowledged(place, await device.contribute(delta, { trainedOn: version }));
    } catch {
      // Its service did not answer: its process ends, and it comes back later.
    }
  }

  #acknowledged(place: number, result: Awaited<ReturnType<import('@basa/client/node').BasaClient['resume']>>): void {
    if (result?.kind !== 'accepted') return;
    const upload = result.ctx;
    if (!this.#given.some((given) => given.upload === upload)) this.#given.push({ place, upload });
  }

  async #turns(count: number): Promise<void> {
    for (let turn = 0; turn < count; turn++) {
      this.#world.elapse(1000);
      await this.#world.tick();
      await new Promise((resolve) => setTimeout(resolve, 10)); // the threads of the server
    }
  }

  /** Everybody is there; the epochs of all uploads end. */
  async settle(): Promise<void> {
    await this.#turns(20);
    for (let hours = 0; hours < 4; hours++) {
      this.#world.elapse(HOUR_MS);
      await this.#turns(5);
    }
  }

  async report(): Promise<Omit<FaultyRun, 'seed'>> {
    const fates: Record<string, number> = {};
    const byVersion = new Map<number, number[]>();
    for (const { place, upload } of this.#given) {
      const { fate, version } = await this.#asked<{ fate: string; version?: number }>(
        SERVER_PATH.shotFate(this.#world.task, upload),
      );
      fates[fate] = (fates[fate] ?? 0) + 1;
      if (version !== undefined) byVersion.set(version, [...(byVersion.get(version) ?? []), place]);
    }
    const broken: string[] = [];
    if ((fates['waiting'] ?? 0) > 0) broken.push('an acknowledged update has no end');
    const { version: versions } = await this.#asked<{ version: number }>(SERVER_PATH.task(this.#world.task));
    for (let version = 1; version <= versions; version++)
      if (!(await this.#isSumOf(version, byVersion.get(version) ?? []))) broken.push('a version is not its updates');
    return { versions, acknowledged: this.#given.length, fates, broken };
  }

  /** Against the mean of its updates: an update that the device never heard of may be in it as well. */
  async #isSumOf(version: number, places: readonly number[]): Promise<boolean> {
    const [before, after] = [await this.#world.reached(version - 1), await this.#world.reached(version)];
    const moved = Array.from(after.parameters, (value, n) => (before.parameters[n] as number) - value);
    const sizes = Array.from({ length: K }, (_, n) => n + 1);
    const counts = sizes.map((size) => moved.map((value) => value * size));
    const whole = counts.find((all) => all.every((value) => Math.abs(value - Math.round(value)) < 1e-3));
    const atLeast = (place: number): number => places.filter((one) => one === place).length;
    return whole?.every((value, place) => Math.round(value) >= atLeast(place)) ?? false;
  }

  async #asked<Answer>(path: string): Promise<Answer> {
    const response = await this.#world.wire.fetch(new URL(path, this.#world.serverUrl));
    return (await response.json()) as Answer;
  }
}
