/** Both modes over the same fleet in virtual time, with the prices of this machine, and the model that each really trains. */
import {
  agedWeight,
  createServerStep,
  type Dataset,
  defineModel,
  dense,
  flatten,
  randomStream,
  type Samples,
  type ServerStep,
  type Trainer,
  WeightedMean,
} from '@basa/learning';
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
import { createPageTrainer } from '../shared/page-trainer.ts';
import type { LaneState, PaperPrices, PlaySettings, Prices } from './play-messages.ts';

const SIDE = 14;
const CLASSES = 10;
const TRAINED = 2000;
const HELD_OUT = 400;
const PER_DEVICE = 20;
/** The number of kinds of digits of a device, so that its own update pulls the model in its own direction. */
const KINDS = 3;
const NOISE = 30;
const DATA_SEED = 11;
const FONTS = ['sans-serif', 'serif', 'monospace'] as const;

interface DrawnDigits {
  readonly test: Samples;
  samplesOf(device: number): Samples;
}

export function drawDigits(): DrawnDigits {
  const dataset = drawn(TRAINED + HELD_OUT);
  const byClass = Array.from({ length: CLASSES }, (_, digit) =>
    Uint32Array.from({ length: TRAINED }, (_, n) => n).filter((n) => dataset.labels[n] === digit),
  );
  return {
    test: { dataset, indices: Uint32Array.from({ length: HELD_OUT }, (_, n) => TRAINED + n) },
    samplesOf(device) {
      const chance = randomStream(DATA_SEED, 'device', device);
      const kinds = Array.from({ length: KINDS }, () => chance.below(CLASSES));
      const indices = Uint32Array.from({ length: PER_DEVICE }, (_, n) => {
        const known = byClass[kinds[n % KINDS] as number] as Uint32Array;
        return known[chance.below(known.length)] as number;
      });
      return { dataset, indices };
    },
  };
}

function drawn(examples: number): Dataset {
  const canvas = new OffscreenCanvas(SIDE, SIDE);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('this browser cannot draw');
  const chance = randomStream(DATA_SEED, 'digits');
  const around = (size: number): number => size * (2 * chance.unit() - 1);
  const inputs = new Uint8Array(examples * SIDE * SIDE);
  const labels = Uint8Array.from({ length: examples }, () => chance.below(CLASSES));
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.fillStyle = 'white';
  for (const [n, label] of labels.entries()) {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, SIDE, SIDE);
    context.translate(SIDE / 2 + around(1), SIDE / 2 + 1 + around(1));
    context.rotate(around(0.2));
    context.font = `${Math.round(12 + around(1))}px ${FONTS[chance.below(FONTS.length)]}`;
    context.fillText(String(label), 0, 0);
    const { data } = context.getImageData(0, 0, SIDE, SIDE);
    for (let k = 0; k < SIDE * SIDE; k++)
      inputs[n * SIDE * SIDE + k] = Math.max(0, Math.min(255, (data[4 * k + 3] as number) + around(NOISE)));
  }
  return { name: 'drawn digits', shape: { height: SIDE, width: SIDE, channels: 1 }, classes: CLASSES, inputs, labels };
}

const TRAINING = { epochs: 1, batchSize: 10, learningRate: 0.2 } as const;
const MODEL_SEED = 3;

/** Logistic regression on drawn digits: small enough to be trained many times a second. */
export function playTrainer(): Trainer {
  const input = { height: SIDE, width: SIDE, channels: 1 };
  return createPageTrainer(defineModel('drawn digits', input, [flatten, dense(CLASSES, { name: 'linear' })]));
}

export class Learner {
  readonly #trainer: Trainer;
  readonly #digits: DrawnDigits;
  readonly #step: ServerStep = createServerStep({ kind: 'fedbuff', rate: 1 });
  readonly #samples = new Map<number, Samples>();
  /** The model with which each trip under way began. */
  readonly #starts = new Map<number, Float32Array>();
  #parameters: Float32Array;
  #accuracy: number | undefined;

  constructor(trainer: Trainer, digits: DrawnDigits) {
    this.#trainer = trainer;
    this.#digits = digits;
    this.#parameters = trainer.init(MODEL_SEED);
  }

  /** The accuracy of the newest version, evaluated on demand. */
  get accuracy(): number {
    this.#accuracy ??= this.#trainer.evaluate(this.#parameters, this.#digits.test).accuracy ?? Number.NaN;
    return this.#accuracy;
  }

  hear(event: TimedEvent): void {
    if (event.kind === 'departed') this.#starts.set(event.trip.number, this.#parameters);
    else if (event.kind === 'ended') {
      if (event.fate !== 'taken') this.#starts.delete(event.trip.number);
    } else this.#learn(event);
  }

  /** Applies the mean of the updates, damped by its mean age like the default step of a server: undamped it oscillates. */
  #learn({ included, meanAge }: Extract<TimedEvent, { readonly kind: 'version' }>): void {
    const mean = new WeightedMean(this.#parameters.length);
    for (const { trip } of included) {
      const start = this.#starts.get(trip.number) ?? this.#parameters;
      this.#starts.delete(trip.number);
      const { delta } = this.#trainer.train({
        ...TRAINING,
        start,
        samples: this.#samplesOf(trip.user),
        seed: trip.number,
      });
      mean.add(delta);
    }
    this.#parameters = this.#parameters.slice();
    this.#step.applyInPlace(this.#parameters, mean.take('count'), meanAge);
    this.#accuracy = undefined;
  }

  #samplesOf(device: number): Samples {
    const known = this.#samples.get(device) ?? this.#digits.samplesOf(device);
    this.#samples.set(device, known);
    return known;
  }
}

const COMPUTE_SECONDS = 1;
const USERS = 1000;
const FLEET_SEED = 7;
/** Masks, checks and a durable write take little time compared with the delays. */
const SMALL_SECONDS = 0.002;
const MAX_STALENESS = 24;

class PlayedLane {
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
    seed: FLEET_SEED,
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
