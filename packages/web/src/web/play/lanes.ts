/** Both modes over the same fleet in virtual time, with the prices of this machine. */
import { agedWeight } from '@basa/learning';
import { defaultMinimum } from '@basa/protocol/policy';
import {
  type Fleet,
  type OneShotCosts,
  OneShotScheme,
  type PaperCosts,
  PaperScheme,
  type Scheme,
  type TimedEvent,
  Timeline,
  tripSeconds,
} from '@basa/simulator';
import type { Learner } from './learner.ts';
import type { LaneState, PaperPrices, PlaySettings, Prices } from './play-messages.ts';

const COMPUTE_SECONDS = 1;
const USERS = 1000;
const SEED = 7;
/** Masks, checks and a durable write take little time compared with the delays. */
const SMALL_SECONDS = 0.002;
const MAX_STALENESS = 24;

export class PlayedLane {
  readonly #events: Iterator<TimedEvent, undefined>;
  readonly #fleet: Fleet;
  readonly #learner: Learner;
  #pending: TimedEvent | undefined;
  /** The time at which each trip under way will be, or was, trained. */
  readonly #trainedAt = new Map<number, number>();
  readonly #staleness: number[] = [];
  #versions = 0;
  #taken = 0;
  #included = 0;
  #dropped = 0;

  constructor(fleet: Fleet, learner: Learner, make: (timeline: Timeline) => Scheme) {
    this.#learner = learner;
    this.#fleet = fleet;
    const timeline = new Timeline(this.#fleet);
    this.#events = timeline.run(make(timeline));
  }

  /** Runs all events up to this time. */
  playUntil(time: number): void {
    for (;;) {
      this.#pending ??= this.#events.next().value;
      if (this.#pending === undefined || this.#pending.time > time) return;
      this.#hear(this.#pending);
      this.#pending = undefined;
    }
  }

  state(time: number): LaneState {
    const waiting = [...this.#trainedAt.values()].filter((trained) => trained <= time).length;
    const filled = Math.min(this.#fleet.bufferSize, this.#taken - this.#included);
    return {
      versions: this.#versions,
      filled,
      waiting,
      dropped: this.#dropped,
      staleness: [...this.#staleness],
      accuracy: this.#learner.accuracy,
    };
  }

  #hear(event: TimedEvent): void {
    this.#learner.hear(event);
    if (event.kind === 'departed') {
      this.#trainedAt.set(event.trip.number, event.time + tripSeconds(this.#fleet, event.trip));
    } else if (event.kind === 'ended') {
      this.#trainedAt.delete(event.trip.number);
      if (event.fate === 'taken') this.#taken++;
      if (event.fate === 'dropped-out') this.#dropped++;
    } else {
      this.#versions = event.version;
      this.#included += event.included.length;
      for (const { staleness } of event.included) this.#count(Math.min(MAX_STALENESS, staleness));
    }
  }

  #count(staleness: number): void {
    while (this.#staleness.length <= staleness) this.#staleness.push(0);
    this.#staleness[staleness] = (this.#staleness[staleness] ?? 0) + 1;
  }
}

function fleetOf({ bufferSize, betaSeconds, concurrency, dropouts }: PlaySettings): Fleet {
  return {
    users: USERS,
    concurrency,
    arrivals: { kind: 'closed' },
    computeSeconds: () => COMPUTE_SECONDS,
    delay: { kind: 'exponential', mean: betaSeconds },
    dropouts,
    weightOf: agedWeight,
    bufferSize,
    seed: SEED,
  };
}

/** Like new tasks: one version per batch, and a place for every device that trains. */
function oneShotFleet(settings: PlaySettings): Fleet {
  const { bufferSize, concurrency } = settings;
  const minimum = defaultMinimum(bufferSize, 0);
  const places = Math.max(bufferSize, concurrency);
  return {
    ...fleetOf(settings),
    versions: 'one',
    minimum,
    admission: { places, minimum },
  };
}

/** A turn opens the seeds of all earlier positions and seals one for each later one. */
function paperCosts({ bufferSize, leaseSeconds }: PlaySettings, prices: PaperPrices): PaperCosts {
  const { sealSeconds, openSeconds, issueSeconds } = prices;
  return {
    quantiseSeconds: SMALL_SECONDS,
    turnSeconds: (position) =>
      position * openSeconds + (bufferSize - 1 - position) * sealSeconds + issueSeconds + SMALL_SECONDS,
    leaseSeconds,
  };
}

/** A device seals one seed. The authority opens it to inspect the upload, and again to sum the masks of the batch. */
function oneShotCosts({ sealSeconds, openSeconds }: Prices['oneShot']): OneShotCosts {
  return {
    deviceSeconds: sealSeconds + SMALL_SECONDS,
    intakeSeconds: SMALL_SECONDS,
    inspectSeconds: openSeconds + SMALL_SECONDS,
    releaseSeconds: (size) => size * openSeconds + SMALL_SECONDS,
    openSeconds: () => SMALL_SECONDS,
  };
}

export function newLanes(
  settings: PlaySettings,
  prices: Prices,
  newLearner: () => Learner,
): { readonly paper: PlayedLane; readonly oneShot: PlayedLane } {
  return {
    paper: new PlayedLane(
      fleetOf(settings),
      newLearner(),
      (timeline) => new PaperScheme(timeline, paperCosts(settings, prices.paper)),
    ),
    oneShot: new PlayedLane(
      oneShotFleet(settings),
      newLearner(),
      (timeline) => new OneShotScheme(timeline, oneShotCosts(prices.oneShot)),
    ),
  };
}
