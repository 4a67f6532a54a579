/** The paper's BASA: one user at a time holds the next position, all others queue. */
import { downSeconds, upSeconds } from './link.ts';
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface PaperCosts {
  readonly quantiseSeconds: number;
  /** The turn of a position: its key, its seeds, its masks, and the server's work on the upload. */
  readonly turnSeconds: (position: number) => number;
  /** The part of the turn for the masks and the upload, which could come after it ("ciphertexts first"). */
  readonly maskSeconds: number;
  /** Time after the turn has been passed on; zero in the paper. */
  readonly afterTurnSeconds: number;
  readonly downBytes: (position: number) => number;
  readonly upBytes: (position: number) => number;
  /** t_out: the time for which a position stays with a user that left. */
  readonly leaseSeconds: number;
  /** Buffers that fill side by side, the paper's future work; 1 in the paper. */
  readonly parallelBuffers: number;
}

interface Line {
  filled: Included[];
  position: number;
  isHeld: boolean;
  readonly waiting: Trip[];
}

export class PaperScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: PaperCosts;
  readonly #lines: readonly Line[];
  #heldSeconds = 0;

  constructor(timeline: Timeline, costs: PaperCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
    this.#lines = Array.from({ length: costs.parallelBuffers }, () => ({
      filled: [],
      position: 0,
      isHeld: false,
      waiting: [],
    }));
  }

  trained(trip: Trip): void {
    const { now } = this.#timeline;
    this.#timeline.at(now + this.#costs.quantiseSeconds, PRIORITY.step, () => {
      const line = this.#shortestLine();
      line.waiting.push(trip);
      this.#grant(line);
    });
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return { slot: time > 0 ? this.#heldSeconds / (time * this.#lines.length) : 0 };
  }

  #shortestLine(): Line {
    const length = (line: Line): number => line.waiting.length + (line.isHeld ? 1 : 0);
    return this.#lines.reduce((best, line) => (length(line) < length(best) ? line : best));
  }

  #grant(line: Line): void {
    const trip = line.isHeld ? undefined : line.waiting.shift();
    if (trip === undefined) return;
    const timeline = this.#timeline;
    const update = timeline.include(trip);
    const { position } = line;
    line.isHeld = true;
    const seconds = this.#secondsOf(trip, position);
    this.#heldSeconds += seconds;
    timeline.at(timeline.now + seconds, PRIORITY.finish, () => {
      line.isHeld = false;
      if (trip.dropsOut) timeline.end(trip, 'dropped-out');
      else if (update.weight === 0) timeline.end(trip, 'stale');
      else this.#passOn(line, update);
      this.#grant(line);
    });
  }

  #secondsOf(trip: Trip, position: number): number {
    const { turnSeconds, downBytes, upBytes, leaseSeconds } = this.#costs;
    const { link } = this.#timeline.fleet;
    if (trip.dropsOut) return leaseSeconds;
    return turnSeconds(position) + downSeconds(link, downBytes(position)) + upSeconds(link, upBytes(position));
  }

  #passOn(line: Line, update: Included): void {
    const timeline = this.#timeline;
    line.position = (line.position + 1) % timeline.fleet.bufferSize;
    const { filled } = line;
    filled.push(update);
    timeline.gate?.entered(update.trip.user, filled, 'begun', timeline.now);
    if (filled.length === timeline.fleet.bufferSize) line.filled = [];
    timeline.at(timeline.now + this.#costs.afterTurnSeconds, PRIORITY.finish, () => {
      // The last position ends last: every turn has the same time after it.
      if (filled.length === timeline.fleet.bufferSize && filled.at(-1) === update) {
        timeline.publish(filled);
        timeline.gate?.became(filled, 'over', timeline.now);
      }
      timeline.end(update.trip, 'taken');
    });
  }
}
