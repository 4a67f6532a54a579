/** The model of one lane: every update in a version was really trained, from the version that its device had fetched. */
import {
  createServerStep,
  defineModel,
  dense,
  flatten,
  type Samples,
  type ServerStep,
  type Trainer,
  WeightedMean,
} from '@basa/learning';
import type { TimedEvent } from '@basa/simulator';
import { createPageTrainer } from '../shared/page-trainer.ts';
import { type DrawnDigits, SIDE } from './drawn-digits.ts';

const TRAINING = { epochs: 1, batchSize: 10, learningRate: 0.2 } as const;
const CLASSES = 10;
const SEED = 3;

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
    this.#parameters = trainer.init(SEED);
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
