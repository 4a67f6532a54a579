/** BASA in `sealed` mode: users work in parallel; the authority is one queue, and all threads of a pool open one sum after the other. */

import { downSeconds, upSeconds } from './link.ts';
import { type Buffer, closeWhenQuiet, newBuffer } from './sealed-filling.ts';
import { Station } from './station.ts';
import { PRIORITY, type Scheme, type Timeline } from './timeline.ts';
import type { Included, Trip } from './trip.ts';

export interface SealedCosts {
  /** Made in advance, during the training. */
  readonly offlineSeconds: number;
  /** Quantise, seal seeds for all slots, sign. */
  readonly depositSeconds: number;
  readonly depositBytes: number;
  /** Time of the server's main thread for a deposit and for an upload. */
  readonly serverSeconds: number;
  /** Time of its thread that receives the bodies of uploads. */
  readonly bodySeconds: number;
  readonly inboxBytes: (slot: number) => number;
  /** Time of the authority for a key: check, issue, make durable. */
  readonly keySeconds: number;
  readonly keyBytes: number;
  /** Open the inbox, back it up, mask. */
  readonly maskSeconds: (slot: number) => number;
  readonly uploadBytes: (slot: number) => number;
  /** Time of the authority for the keys of this many accepted slots and drop-outs. */
  readonly closeSeconds: (accepted: number, dropped: number) => number;
  /** Time of all threads of the pool together: the server cuts every sum into shards for all of them. */
  readonly openSeconds: (accepted: number, dropped: number) => number;
  /** The time for which a slot waits for its upload. */
  readonly leaseSeconds: number;
}

export class SealedScheme implements Scheme {
  readonly #timeline: Timeline;
  readonly #costs: SealedCosts;
  readonly #server = new Station();
  readonly #bodies = new Station();
  readonly #authority = new Station();
  readonly #opening = new Station();
  /** The buffer that accepts seats, by version; one for all if versions are mixed. */
  readonly #open = new Map<number | undefined, Buffer>();

  constructor(timeline: Timeline, costs: SealedCosts) {
    this.#timeline = timeline;
    this.#costs = costs;
  }

  trained(trip: Trip): void {
    const timeline = this.#timeline;
    const ready = Math.max(timeline.now, trip.departed + this.#costs.offlineSeconds);
    timeline.at(ready, PRIORITY.step, () => {
      const update = timeline.include(trip);
      if (update.weight === 0) return timeline.end(trip, 'stale');
      const isOver = this.#isOne && timeline.gate?.isVersionOver(trip.user, trip.version) === true;
      if (isOver) {
        timeline.end(trip, 'lost');
        return this.#closeWhenQuiet(trip.version);
      }
      const buffer = this.#seat(this.#isOne ? trip.version : undefined);
      const { depositSeconds, depositBytes } = this.#costs;
      const arrives = timeline.now + depositSeconds + upSeconds(timeline.fleet.link, depositBytes);
      timeline.at(arrives, PRIORITY.step, () => this.#deposit(buffer, update));
    });
  }

  utilisation(time: number): Readonly<Record<string, number>> {
    return {
      server: this.#server.utilisation(time),
      bodies: this.#bodies.utilisation(time),
      authority: this.#authority.utilisation(time),
      opening: this.#opening.utilisation(time),
    };
  }

  get #isOne(): boolean {
    return this.#timeline.fleet.versions === 'one';
  }

  /** Takes a place in the open buffer of the version; the next buffer opens when all are taken. */
  #seat(version: number | undefined): Buffer {
    const buffer = this.#open.get(version) ?? newBuffer(version);
    this.#open.set(version, buffer);
    if (++buffer.seats === this.#timeline.fleet.bufferSize) this.#open.delete(version);
    return buffer;
  }

  #deposit(buffer: Buffer, update: Included): void {
    const timeline = this.#timeline;
    const { link } = timeline.fleet;
    const { serverSeconds, inboxBytes, keyBytes, keySeconds } = this.#costs;
    const slot = buffer.slots++;
    timeline.gate?.entered(update.trip.user, buffer, this.#stageOf(buffer), timeline.now, buffer.version);
    this.#closeWhenQuiet(buffer.version);
    const told = this.#server.serve(timeline.now, serverSeconds) + downSeconds(link, inboxBytes(slot));
    timeline.at(told + link.latencySeconds, PRIORITY.step, () => {
      const issued = this.#authority.serve(timeline.now, keySeconds) + downSeconds(link, keyBytes);
      timeline.at(issued, PRIORITY.step, () => this.#mask(buffer, slot, update));
    });
  }

  #mask(buffer: Buffer, slot: number, update: Included): void {
    const timeline = this.#timeline;
    const { leaseSeconds, maskSeconds, uploadBytes } = this.#costs;
    if (update.trip.dropsOut) {
      timeline.end(update.trip, 'dropped-out');
      timeline.at(timeline.now + leaseSeconds, PRIORITY.step, () => {
        buffer.dropped++;
        timeline.gate?.uploaded(update.trip.user, buffer, timeline.now);
        this.#closeWhenDecided(buffer);
      });
      return;
    }
    const arrives = timeline.now + maskSeconds(slot) + upSeconds(timeline.fleet.link, uploadBytes(slot));
    timeline.at(arrives, PRIORITY.step, () => this.#receive(buffer, update));
  }

  #receive(buffer: Buffer, update: Included): void {
    const timeline = this.#timeline;
    const { bodySeconds, serverSeconds } = this.#costs;
    timeline.at(this.#bodies.serve(timeline.now, bodySeconds), PRIORITY.step, () => {
      timeline.at(this.#server.serve(timeline.now, serverSeconds), PRIORITY.finish, () => {
        buffer.accepted.push(update);
        timeline.gate?.uploaded(update.trip.user, buffer, timeline.now);
        timeline.end(update.trip, 'taken');
        this.#closeWhenDecided(buffer);
      });
    });
  }

  #closeWhenDecided(buffer: Buffer): void {
    const { accepted, dropped } = buffer;
    const { bufferSize } = this.#timeline.fleet;
    if (accepted.length + dropped >= bufferSize && accepted.length > 0) this.#close(buffer);
    else this.#closeWhenQuiet(buffer.version);
  }

  #closeWhenQuiet(version: number | undefined): void {
    closeWhenQuiet(this.#timeline, this.#open, version, (buffer) => this.#close(buffer));
  }

  #close(buffer: Buffer): void {
    const timeline = this.#timeline;
    const { accepted, dropped } = buffer;
    const { closeSeconds, openSeconds } = this.#costs;
    buffer.isClosed = true;
    timeline.gate?.became(buffer, 'waiting', timeline.now);
    const closed = this.#authority.serve(timeline.now, closeSeconds(accepted.length, dropped));
    timeline.at(closed, PRIORITY.step, () => {
      const opened = this.#opening.serve(timeline.now, openSeconds(accepted.length, dropped));
      timeline.at(opened, PRIORITY.finish, () => {
        timeline.publish(accepted);
        timeline.gate?.became(buffer, 'over', timeline.now);
        for (const version of this.#open.keys()) this.#closeWhenQuiet(version);
      });
    });
  }

  #stageOf({ slots }: Buffer): 'begun' | 'full' {
    return slots < this.#timeline.fleet.bufferSize ? 'begun' : 'full';
  }
}
