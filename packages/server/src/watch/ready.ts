/**
 * Whether a server can serve. Without its database or its blobs it cannot. Without its authority it can: models are
 * fetched and uploads accepted, only new buffers and ends wait; so that is told and does not count.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Service } from '@basa/service';
import type { AuthorityLink } from '../authority/authority-link.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BlobPlace } from '../blobs/place.ts';
import type { Store } from '../store/store.ts';

export interface ReadyTools {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly place: BlobPlace;
  readonly link: AuthorityLink;
}

export function checkReadiness({ check }: Service, { store, blobs, place, link }: ReadyTools): void {
  check('database', { isNeeded: true, look: () => store.note('readiness') });
  check('blobs', {
    isNeeded: true,
    // A name that is never there: asking for it shows that the store answers.
    look: () => ('folder' in place ? access(place.folder, constants.R_OK | constants.W_OK) : blobs.size('readiness')),
  });
  check('authority', { isNeeded: false, look: () => link.health() });
}
