/** A fleet in which some devices spoil sums, under only the rule of suspicion: no masks, no time, any number of buffers. */
import { type RandomStream, randomStream } from '@basa/learning';
import {
  judgeStandings,
  LATELY,
  maySit,
  NEW_STANDING,
  STRONG_SUSPECT,
  type Standing,
  SUSPECT,
  standingAt,
} from '@basa/protocol';

export interface FleetOptions {
  readonly devices: number;
  /** The first devices lie. */
  readonly liars: number;
  readonly bufferSize: number;
  readonly minimum: number;
  readonly buffers: number;
  readonly seed: number;
  /** The last devices come one after the other, evenly over the sums. */
  readonly newcomers?: number;
  /** The share of sums in which a liar lies (0.5), or a function that decides it. */
  readonly lies?: number | ((scene: LieScene) => boolean);
  /** Without the rule every device may sit anywhere, and no device is suspended. */
  readonly isWithoutRule?: true;
}

export interface LieScene {
  /** Everybody in the buffer. */
  readonly users: readonly number[];
  /** The knowledge of the liars, who can compute it from what they were told. */
  standingOf(device: number): Standing;
  readonly chance: RandomStream;
}

export interface FleetReport {
  readonly spoilt: number;
  /** The number of different devices that were suspended at least once. */
  readonly suspendedHonest: number;
  readonly suspendedLiars: number;
  /** The average share of all sums during which an honest device was suspended. */
  readonly honestTimeLost: number;
  /** The sum after which the first liar was suspended. */
  readonly firstSuspended: number | undefined;
}

export function simulateSuspicion(options: FleetOptions): FleetReport {
  const { devices, liars, bufferSize, minimum, buffers, seed, newcomers = 0, lies = 0.5 } = options;
  const chance = randomStream(seed, 'suspicion');
  const standings = new Map<number, Standing>();
  const lastSums = new Map<number, number>();
  const suspended = new Set<number>();
  let [spoilt, honestTime] = [0, 0];
  let firstSuspended: number | undefined;
  for (let sum = 1; sum <= buffers; sum++) {
    const standingOf = (device: number): Standing => standingAt(standings.get(device) ?? NEW_STANDING, sum);
    const isOut = (device: number): boolean => standingOf(device).suspendedUntil !== undefined;
    const active = [...lastSums].filter(([device, last]) => last > sum - LATELY && !isOut(device));
    const below = (limit: number): number => active.filter(([device]) => standingOf(device).suspicion < limit).length;
    const trust = { trusted: below(SUSPECT), mild: below(STRONG_SUSPECT) };
    const ctx = Uint8Array.of(Math.floor(256 * chance.unit()));
    const users: number[] = [];
    const here = devices - newcomers + Math.floor((newcomers * sum) / (buffers + 1));
    for (const device of shuffled(here, chance)) {
      if (users.length === bufferSize) break;
      const from = (limit: number): number => users.filter((user) => standingOf(user).suspicion >= limit).length;
      const counts = { taken: users.length, suspects: from(SUSPECT), strong: from(STRONG_SUSPECT) };
      const buffer = { ctx, minimum, ...counts, isLate: false };
      const sits = !isOut(device) && maySit(standingOf(device).suspicion, buffer, trust);
      if (sits || options.isWithoutRule) users.push(device);
    }
    if (users.length < minimum) throw new Error(`only ${users.length} devices may sit down: the fleet is stuck`);
    const liesNow = typeof lies === 'number' ? () => chance.unit() < lies : lies;
    const isSpoilt = users.some((user) => user < liars && liesNow({ users, standingOf, chance }));
    if (isSpoilt) spoilt++;
    for (const user of users) lastSums.set(user, sum);
    if (options.isWithoutRule) continue;
    const judged = { users: users.map(String), outcome: isSpoilt ? 'spoilt' : 'clean', named: [] } as const;
    const fleet = new Set([...active.map(([device]) => device), ...users]).size;
    const out = [...standings.keys()].filter(isOut).length;
    const scene = { sum, minimum, devices: fleet, suspended: out };
    const after = judgeStandings((user) => standingOf(Number(user)), judged, scene);
    for (const [user, standing] of after) {
      standings.set(Number(user), standing);
      if (standing.suspendedUntil === undefined) continue;
      suspended.add(Number(user));
      if (Number(user) < liars) firstSuspended ??= sum;
    }
    for (let device = liars; device < devices; device++) if (isOut(device)) honestTime++;
  }
  const out = [...suspended];
  return {
    spoilt,
    suspendedHonest: out.filter((device) => device >= liars).length,
    suspendedLiars: out.filter((device) => device < liars).length,
    honestTimeLost: honestTime / (buffers * (devices - liars)),
    firstSuspended,
  };
}

function shuffled(count: number, chance: RandomStream): readonly number[] {
  const order = Array.from({ length: count }, (_, n) => n);
  for (let n = count - 1; n > 0; n--) {
    const other = Math.floor((n + 1) * chance.unit());
    [order[n], order[other]] = [order[other] as number, order[n] as number];
  }
  return order;
}
