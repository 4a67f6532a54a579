/**
 * Tells whether a server is ready. It is not ready without its database or its blobs. It is ready without its authority: devices can fetch
 * models and upload, and only new batches wait. Therefore a missing authority is reported, but the server stays ready.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { toHex } from '@basa/masking';
import type { Councils } from '@basa/protocol/wire';
import type { Service } from '@basa/service';
import type { AuthorityLink } from '../authority/authority-link.ts';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { BlobPlace } from '../blobs/place.ts';
import type { Store } from '../store/store.ts';

/** `councils`: of the tasks that are not finished. */
export function checkReadiness(
  { check }: Service,
  {
    store,
    blobs,
    links,
  }: { readonly store: Store; readonly blobs: BlobStore; readonly links: readonly AuthorityLink[] },
  place: BlobPlace,
  councils: () => readonly Councils.Council[],
): void {
  check('database', { isNeeded: true, look: () => store.note('readiness') });
  check('blobs', {
    isNeeded: true,
    // A name that never exists: asking for it shows that the store answers.
    look: () => ('folder' in place ? access(place.folder, constants.R_OK | constants.W_OK) : blobs.size('readiness')),
  });
  for (const [n, link] of links.entries())
    check(links.length === 1 ? 'authority' : `authority ${n + 1}`, { isNeeded: false, look: () => link.health() });
  if (links.length > 1) check('enough authorities', { isNeeded: false, look: () => lookForEnough(links, councils()) });
}

/** Rejects if a task has fewer authorities up than it needs, because its batches wait. */
async function lookForEnough(links: readonly AuthorityLink[], councils: readonly Councils.Council[]): Promise<void> {
  const looked = await Promise.allSettled(links.map((link) => link.health()));
  const up = links.filter((_, n) => looked[n]?.status === 'fulfilled').map(({ publicKey }) => toHex(publicKey));
  const isShort = ({ authorities, threshold }: Councils.Council): boolean =>
    authorities.filter((key) => up.includes(toHex(key))).length < threshold;
  if (councils.some(isShort)) throw new Error('too few authorities of a task answer');
}
