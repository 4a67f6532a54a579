/**
 * Whether a server can serve. Without its database or its blobs it cannot. Without its authority it can: models are
 * fetched and uploads accepted, only new buffers and ends wait; so that is told and does not count.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Service } from '@basa/service';
import type { AuthorityLinks } from '../authority/authority-links.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BlobPlace } from '../blobs/place.ts';
import type { Store } from '../store/store.ts';

export interface ReadyTools {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly place: BlobPlace;
  readonly links: AuthorityLinks;
}

export function checkReadiness({ check }: Service, { store, blobs, place, links }: ReadyTools): void {
  check('database', { isNeeded: true, look: () => store.note('readiness') });
  check('blobs', {
    isNeeded: true,
    // A name that is never there: asking for it shows that the store answers.
    look: () => ('folder' in place ? access(place.folder, constants.R_OK | constants.W_OK) : blobs.size('readiness')),
  });
  const { all } = links;
  for (const [n, link] of all.entries())
    check(all.length === 1 ? 'authority' : `authority ${n + 1}`, { isNeeded: false, look: () => link.health() });
}
