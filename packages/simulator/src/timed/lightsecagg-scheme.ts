/** LightSecAgg with a buffer: a full buffer opens when U users have answered, each when its training ends. */
import type { SynchronisationReading } from '@basa/baselines';
import { Station } from './station.ts';
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface LightSecAggCosts {
  /** The time to draw and encode a mask and to send it to all. It overlaps with the training if `isOverlapped`. */
  readonly offlineSeconds: number;
  readonly isOverlapped: boolean;
  readonly maskSeconds: number;
  readonly answerSeconds: number;
  /** Time of the server when enough users have answered. */
  readonly decodeSeconds: number;
  /** U. */
  readonly answers: number;
  readonly reading: SynchronisationReading;
}

/** The wait for U answers: every user answers once, when its training ends. */
interface Wait {
  readonly full: readonly Included[];
  readonly began: number;
  /** The lanes that have answered. */
  readonly answered: Set<number>;
}

export class LightSecAggScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: LightSecAggCosts;
  readonly #server = new Station();
  #buffer: Included[] = [];
  #door: Trip[] = [];
  #idle: Trip[] = [];
  #wait: Wait | undefined;
  #waitedSeconds = 0;

  constructor(timeline: Timeline, costs: LightSecAggCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
  }

  trained(trip: Trip): void {
    const timeline = this.#timeline;
    const { offlineSeconds, isOverlapped, maskSeconds } = this.#costs;
    const ready = isOverlapped ? Math.max(timeline.now, trip.departed + offlineSeconds) : timeline.now + offlineSeconds;
    timeline.at(ready + maskSeconds, PRIORITY.step, () => this.#arrive(trip));
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return { server: this.#server.utilisation(time), waiting: time > 0 ? this.#waitedSeconds / time : 0 };
  }

  #arrive(trip: Trip): void {
    const wait = this.#wait;
    if (trip.dropsOut) this.#timeline.end(trip, 'dropped-out');
    else if (wait === undefined) this.#accept(trip);
    else this.#arriveInWait(trip);
    if (wait !== undefined && !trip.dropsOut) this.#answer(wait, trip);
  }

  #arriveInWait(trip: Trip): void {
    const timeline = this.#timeline;
    const { arrival } = this.#costs.reading;
    if (arrival === 'held') this.#door.push(trip);
    else if (arrival === 'lost') timeline.end(trip, 'lost');
    else {
      const update = timeline.include(trip);
      if (update.weight > 0) this.#buffer.push(update);
      this.#idle.push(trip);
    }
  }

  #accept(trip: Trip): void {
    const timeline = this.#timeline;
    const update = timeline.include(trip);
    if (update.weight > 0) this.#buffer.push(update);
    timeline.end(trip, update.weight > 0 ? 'taken' : 'stale');
    this.#checkFull();
  }

  #checkFull(): void {
    const timeline = this.#timeline;
    if (this.#wait !== undefined || this.#buffer.length < timeline.fleet.bufferSize) return;
    const full = this.#buffer;
    this.#buffer = [];
    if (!this.#costs.reading.waits) {
      this.#decode(full);
      return;
    }
    const wait: Wait = { full, began: timeline.now, answered: new Set() };
    this.#wait = wait;
    for (const trip of this.#door) this.#answer(wait, trip); // They are waiting anyway, so they answer immediately.
  }

  #answer(wait: Wait, { lane }: Trip): void {
    const { answers, answerSeconds } = this.#costs;
    if (wait.answered.size === answers || wait.answered.has(lane)) return;
    wait.answered.add(lane);
    if (wait.answered.size < answers) return;
    const timeline = this.#timeline;
    timeline.at(timeline.now + answerSeconds, PRIORITY.step, () => {
      this.#waitedSeconds += timeline.now - wait.began;
      this.#decode(wait.full);
    });
  }

  #decode(full: readonly Included[]): void {
    const timeline = this.#timeline;
    timeline.at(this.#server.serve(timeline.now, this.#costs.decodeSeconds), PRIORITY.finish, () => {
      timeline.publish(full);
      if (this.#costs.reading.waits) this.#endWait();
    });
  }

  #endWait(): void {
    const timeline = this.#timeline;
    this.#wait = undefined;
    for (const trip of this.#idle.splice(0)) timeline.end(trip, 'taken');
    while (this.#wait === undefined && this.#door.length > 0) this.#accept(this.#door.shift() as Trip);
    this.#checkFull();
  }
}
