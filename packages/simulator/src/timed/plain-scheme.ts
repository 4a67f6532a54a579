/** FedBuff without secure aggregation: an update is accepted when it arrives. */
import { Station } from './station.ts';
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface PlainCosts {
  /** Time of the server for each update. */
  readonly addSeconds: number;
}

export class PlainScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: PlainCosts;
  readonly #server = new Station();
  #buffer: Included[] = [];

  constructor(timeline: Timeline, costs: PlainCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
  }

  trained(trip: Trip): void {
    const timeline = this.#timeline;
    if (trip.dropsOut) timeline.end(trip, 'dropped-out');
    else timeline.at(timeline.now, PRIORITY.finish, () => this.#take(trip));
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return { server: this.#server.utilisation(time) };
  }

  #take(trip: Trip): void {
    const timeline = this.#timeline;
    const update = timeline.include(trip);
    const added = this.#server.serve(timeline.now, this.#costs.addSeconds);
    const buffer = this.#buffer;
    if (update.weight > 0) {
      buffer.push(update);
      timeline.gate?.entered(trip.user, buffer, 'begun');
    }
    if (buffer.length === timeline.fleet.bufferSize) {
      this.#buffer = [];
      timeline.gate?.became(buffer, 'waiting');
      timeline.at(added, PRIORITY.finish, () => {
        timeline.publish(buffer);
        timeline.gate?.became(buffer, 'over');
      });
    }
    timeline.end(trip, update.weight > 0 ? 'taken' : 'stale');
  }
}
