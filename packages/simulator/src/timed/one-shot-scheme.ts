/**
 * BASA in `one-shot` mode: a device masks once, sends one message and is free; a drop-out costs no one else anything. A batch has one
 * version, unless the policy has a `versionMinimum`.
 */
import { type Batch, closeWhenQuiet, newBatch } from './filling.ts';
import { MixedBatches } from './mixed-batches.ts';
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
  /** If batches may mix versions. */
  readonly #mixed: MixedBatches | undefined;
  /** Opened sums that wait for the next step. */
  #opened: Batch[] = [];
  /** Uploads that are received and not examined yet, by version. */
  readonly #arriving = new Map<number, number>();

  constructor(timeline: Timeline, costs: OneShotCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
    const { versionMinimum } = timeline.fleet;
    this.#mixed = versionMinimum === undefined ? undefined : new MixedBatches(versionMinimum);
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
    const batch = this.#mixed === undefined ? this.#join(trip) : undefined;
    if (batch === undefined) timeline.gate?.entered(trip.user, update, 'begun', trip.version);
    this.#count(trip.version, 1);
    timeline.at(this.#server.serve(timeline.now, intakeSeconds), PRIORITY.finish, () => {
      timeline.end(trip, 'taken');
      timeline.at(this.#authority.serve(timeline.now, inspectSeconds), PRIORITY.step, () => {
        this.#count(trip.version, -1);
        if (batch === undefined) {
          this.#mixed?.add(update);
          this.#mix();
          return;
        }
        batch.accepted.push(update);
        if (batch.accepted.length === timeline.fleet.bufferSize) this.#close(batch);
        else this.#closeWhenQuiet(batch.version);
      });
    });
  }

  #count(version: number, change: number): void {
    this.#arriving.set(version, (this.#arriving.get(version) ?? 0) + change);
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
    if (this.#mixed === undefined) closeWhenQuiet(this.#timeline, this.#open, version, (batch) => this.#close(batch));
    else this.#mix();
  }

  /** Makes a batch that may mix versions if it is full, or if no other user is on its way. */
  #mix(): void {
    const { gate, fleet } = this.#timeline;
    const { bufferSize, minimum = bufferSize } = fleet;
    const mixed = this.#mixed;
    if (mixed === undefined) return;
    this.#endHopeless(mixed);
    const isQuiet = gate?.underWay === 0 && [...this.#arriving.values()].every((count) => count === 0);
    const picked = mixed.take(isQuiet ? minimum : bufferSize, bufferSize);
    if (picked.length === 0) return;
    const batch = newBatch(Math.max(...picked.map(({ trip }) => trip.version)));
    for (const update of picked) {
      gate?.became(update, 'over');
      gate?.entered(update.trip.user, batch, 'full', batch.version);
      batch.accepted.push(update);
    }
    this.#close(batch);
  }

  /** Frees the users whose update is on a version of which no batch can have enough any more. */
  #endHopeless(mixed: MixedBatches): void {
    const { gate, fleet, version: newest } = this.#timeline;
    for (const [version, count] of mixed.versions) {
      const coming = (gate?.comingOn(version) ?? 0) + (this.#arriving.get(version) ?? 0);
      if (version === newest || count + coming >= (fleet.versionMinimum ?? 1)) continue;
      for (const update of mixed.give(version)) gate?.became(update, 'over');
    }
  }

  #close(batch: Batch): void {
    const timeline = this.#timeline;
    const { accepted } = batch;
    const { releaseSeconds, openSeconds } = this.#costs;
    batch.isClosed = true;
    timeline.gate?.became(batch, 'waiting');
    timeline.at(this.#authority.serve(timeline.now, releaseSeconds(accepted.length)), PRIORITY.step, () => {
      timeline.at(this.#opening.serve(timeline.now, openSeconds(accepted.length)), PRIORITY.finish, () => {
        timeline.gate?.became(batch, 'full');
        this.#opened.push(batch);
        this.#step();
      });
    });
  }

  /** The server's step takes all opened sums as soon as they have enough updates together. */
  #step(): void {
    const timeline = this.#timeline;
    const { stepUpdates = 1 } = timeline.fleet;
    const included = this.#opened.flatMap(({ accepted }) => accepted);
    if (included.length < stepUpdates && timeline.gate?.underWay !== 0) return;
    const opened = this.#opened;
    this.#opened = [];
    timeline.publish(included);
    for (const batch of opened) timeline.gate?.became(batch, 'over');
    if (this.#mixed === undefined) for (const version of this.#open.keys()) this.#closeWhenQuiet(version);
    else this.#mix();
  }
}
