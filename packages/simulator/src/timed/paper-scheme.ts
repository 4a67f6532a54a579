/** The paper's BASA: one user at a time holds the next position, all others queue. */
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface PaperCosts {
  readonly quantiseSeconds: number;
  /** The turn of a position: its key, its seeds, its masks, and the server's work on the upload. */
  readonly turnSeconds: (position: number) => number;
  /** t_out: the time for which a position stays with a user that left. */
  readonly leaseSeconds: number;
}

export class PaperScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: PaperCosts;
  readonly #waiting: Trip[] = [];
  #filled: Included[] = [];
  #isHeld = false;
  #heldSeconds = 0;

  constructor(timeline: Timeline, costs: PaperCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
  }

  trained(trip: Trip): void {
    const { now } = this.#timeline;
    this.#timeline.at(now + this.#costs.quantiseSeconds, PRIORITY.step, () => {
      this.#waiting.push(trip);
      this.#grant();
    });
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return { position: time > 0 ? this.#heldSeconds / time : 0 };
  }

  #grant(): void {
    const trip = this.#isHeld ? undefined : this.#waiting.shift();
    if (trip === undefined) return;
    const timeline = this.#timeline;
    const update = timeline.include(trip);
    const { turnSeconds, leaseSeconds } = this.#costs;
    this.#isHeld = true;
    const seconds = trip.dropsOut ? leaseSeconds : turnSeconds(this.#filled.length);
    this.#heldSeconds += seconds;
    timeline.at(timeline.now + seconds, PRIORITY.finish, () => {
      this.#isHeld = false;
      if (trip.dropsOut) timeline.end(trip, 'dropped-out');
      else if (update.weight === 0) timeline.end(trip, 'stale');
      else this.#passOn(update);
      this.#grant();
    });
  }

  #passOn(update: Included): void {
    const timeline = this.#timeline;
    const filled = this.#filled;
    filled.push(update);
    timeline.gate?.entered(update.trip.user, filled, 'begun');
    if (filled.length === timeline.fleet.bufferSize) {
      this.#filled = [];
      timeline.publish(filled);
      timeline.gate?.became(filled, 'over');
    }
    timeline.end(update.trip, 'taken');
  }
}
