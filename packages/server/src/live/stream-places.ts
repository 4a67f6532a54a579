/** Places at the event stream: each network has a few, and no network can keep the others out. */

const MAX_STREAMS = 200;
/** A class or an office behind one address; a page holds one stream. */
export const MAX_STREAMS_OF_NETWORK = 20;

interface Place {
  readonly network: string;
  readonly end: () => void;
}

export class StreamPlaces {
  readonly #maxStreams: number;
  /** The oldest one first. */
  readonly #taken = new Set<Place>();

  constructor(maxStreams: number = MAX_STREAMS) {
    this.#maxStreams = maxStreams;
  }

  /**
   * Tells whether a listener of this network may have a place. If all are taken, the network that has the most loses
   * its oldest one to a network that has fewer, even with the new one: so no network loses its only place.
   */
  makeRoom(network: string): 'free' | 'network-full' | 'all-full' {
    const own = this.#of(network).length;
    if (own >= MAX_STREAMS_OF_NETWORK) return 'network-full';
    if (this.#taken.size < this.#maxStreams) return 'free';
    const networks = new Set([...this.#taken].map((place) => place.network));
    const most = [...networks].map((name) => this.#of(name)).reduce((a, b) => (b.length > a.length ? b : a), []);
    const [oldest] = most;
    if (oldest === undefined || most.length <= own + 1) return 'all-full';
    this.#taken.delete(oldest);
    oldest.end();
    return 'free';
  }

  /** Takes a place; `end` is called when another listener gets it. Returns a function that gives it back. */
  take(network: string, end: () => void): () => void {
    const place = { network, end };
    this.#taken.add(place);
    return () => void this.#taken.delete(place);
  }

  endAll(): void {
    for (const { end } of this.#taken) end();
  }

  #of(network: string): readonly Place[] {
    return [...this.#taken].filter((place) => place.network === network);
  }
}
