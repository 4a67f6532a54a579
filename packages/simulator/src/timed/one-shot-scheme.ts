/**
 * BASA in `one-shot` mode: a device masks once, sends one message and is free; a batch has one version, and a
 * drop-out costs no one else anything.
 */
import { type Batch, closeWhenQuiet, newBatch } from './filling.ts';
import { Station } from './station.ts';
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface OneShotCosts {
  /** Quantise, seal the seed, mask, sign: the same for every K. */
  readonly deviceSeconds: number;
  /** Time of the server for an upload: check, hash, make durable. */
  readonly intakeSeconds: number;
  /** Time of the authority for an upload that it examines. */
  readonly inspectSeconds: number;
  /** Time of the authority for a batch of this many updates: its vote, and the sum of their masks. */
  readonly releaseSeconds: (size: number) => number;
  /** Time of all threads of the server's pool together. */
  readonly openSeconds: (size: number) => number;
}

export class OneShotScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: OneShotCosts;
  readonly #server = new Station();
  readonly #authority = new Station();
  readonly #opening = new Station();
  /** The batch that is filling, by version. */
  readonly #open = new Map<number, Batch>();

  constructor(timeline: Timeline, costs: OneShotCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
  }

  trained(trip: Trip): void {
    const timeline = this.#timeline;
    const isOver = timeline.gate?.isVersionOver(trip.user, trip.version) === true;
    if (isOver || trip.dropsOut) {
      timeline.end(trip, isOver ? 'lost' : 'dropped-out');
      this.#closeWhenQuiet(trip.version);
      return;
    }
    timeline.at(timeline.now + this.#costs.deviceSeconds, PRIORITY.step, () => this.#receive(timeline.include(trip)));
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return {
      server: this.#server.utilisation(time),
      authority: this.#authority.utilisation(time),
      opening: this.#opening.utilisation(time),
    };
  }

  /** The device is free when its upload is durable; the authority examines the upload afterwards. */
  #receive(update: Included): void {
    const timeline = this.#timeline;
    const { intakeSeconds, inspectSeconds } = this.#costs;
    const { trip } = update;
    const batch = this.#join(trip);
    timeline.at(this.#server.serve(timeline.now, intakeSeconds), PRIORITY.finish, () => {
      timeline.end(trip, 'taken');
      timeline.at(this.#authority.serve(timeline.now, inspectSeconds), PRIORITY.step, () => {
        batch.accepted.push(update);
        if (batch.accepted.length === timeline.fleet.bufferSize) this.#close(batch);
        else this.#closeWhenQuiet(batch.version);
      });
    });
  }

  #join({ user, version }: Trip): Batch {
    const { gate, fleet } = this.#timeline;
    const batch = this.#open.get(version) ?? newBatch(version);
    const isFull = ++batch.arrived === fleet.bufferSize;
    if (isFull) this.#open.delete(version);
    else this.#open.set(version, batch);
    gate?.entered(user, batch, isFull ? 'full' : 'begun', version);
    return batch;
  }

  #closeWhenQuiet(version: number): void {
    closeWhenQuiet(this.#timeline, this.#open, version, (batch) => this.#close(batch));
  }

  #close(batch: Batch): void {
    const timeline = this.#timeline;
    const { accepted } = batch;
    const { releaseSeconds, openSeconds } = this.#costs;
    batch.isClosed = true;
    timeline.gate?.became(batch, 'waiting');
    timeline.at(this.#authority.serve(timeline.now, releaseSeconds(accepted.length)), PRIORITY.step, () => {
      timeline.at(this.#opening.serve(timeline.now, openSeconds(accepted.length)), PRIORITY.finish, () => {
        timeline.publish(accepted);
        timeline.gate?.became(batch, 'over');
        for (const version of this.#open.keys()) this.#closeWhenQuiet(version);
      });
    });
  }
}
