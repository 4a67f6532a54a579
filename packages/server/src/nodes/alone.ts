/** A server that is alone with its database: what it has in memory is what is stored, and nobody is told anything. */

import type { BlobStore } from '../blobs/blob-store.ts';
import { ownSeats } from '../seats/task-seats.ts';
import { placesInMemory } from '../seats/under-way.ts';
import type { Store } from '../store/store.ts';
import { ownPieces } from '../uploads/pieces.ts';
import { NO_LEASES } from './leases.ts';
import type { Nodes } from './nodes.ts';

export interface AloneOptions {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly clock: () => number;
}

export function alone({ store, blobs, clock }: AloneOptions): Nodes {
  return {
    leases: NO_LEASES,
    upToDate: async (copy) => copy,
    pieces: ownPieces({ store, blobs }),
    tell: { task: () => {}, buffer: () => {}, upload: () => {} },
    seats: ownSeats,
    underWay: () => placesInMemory(clock),
    // However short the time since the last tick was, nobody was there in it.
    noteStart: async () => void (await store.noteAlive(0)),
    noteAlive: async () => void (await store.noteAlive(Number.POSITIVE_INFINITY)),
    listen: () => {},
    catchUp: async () => {},
    close: async () => {},
  };
}
