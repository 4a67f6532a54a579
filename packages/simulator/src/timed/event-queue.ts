/** A queue of events, ordered by time, then priority, then insertion. */

interface Planned<Event> {
  readonly time: number;
  readonly priority: number;
  readonly sequence: number;
  readonly event: Event;
}

/** A binary heap; ties are broken deterministically, so that a run repeats bit by bit. */
export class EventQueue<Event> {
  readonly #heap: Planned<Event>[] = [];
  #sequence = 0;

  get size(): number {
    return this.#heap.length;
  }

  push(time: number, priority: number, event: Event): void {
    if (Number.isNaN(time)) throw new RangeError('an event needs a time');
    const planned = { time, priority, sequence: this.#sequence++, event };
    let at = this.#heap.push(planned) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (isBefore(this.#get(parent), planned)) break;
      this.#heap[at] = this.#get(parent);
      at = parent;
    }
    this.#heap[at] = planned;
  }

  pop(): { readonly time: number; readonly event: Event } | undefined {
    const first = this.#heap[0];
    const last = this.#heap.pop();
    if (first === undefined || last === undefined) return undefined;
    if (this.#heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(planned: Planned<Event>): void {
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= this.#heap.length) break;
      if (child + 1 < this.#heap.length && isBefore(this.#get(child + 1), this.#get(child))) child++;
      if (!isBefore(this.#get(child), planned)) break;
      this.#heap[at] = this.#get(child);
      at = child;
    }
    this.#heap[at] = planned;
  }

  #get(at: number): Planned<Event> {
    return this.#heap[at] as Planned<Event>;
  }
}

function isBefore(a: Planned<unknown>, b: Planned<unknown>): boolean {
  if (a.time !== b.time) return a.time < b.time;
  if (a.priority !== b.priority) return a.priority < b.priority;
  return a.sequence < b.sequence;
}
