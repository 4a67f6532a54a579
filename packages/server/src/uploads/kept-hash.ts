/**
 * SHA-256 of bodies that lie outside the server's own disks: the server keeps it with its record, and compares it when it sums. On its own
 * disks a checksum against accidents is enough.
 */
import { createHash } from 'node:crypto';
import { equalBytes } from '@basa/masking';
import { nodeCrc32 } from '@basa/runtime/node';
import type { BlobStore } from '../blobs/blob-store.ts';
import { isRowKey } from '../blobs/body-key.ts';

type Blobs = Pick<BlobStore, 'isElsewhere' | 'read' | 'size'>;

/** Returns the hash of a body that was just stored; undefined if it lies here. Throws if it is not the body with this checksum. */
export async function hashToKeep(blobs: Blobs, key: string, crc: number): Promise<Uint8Array | undefined> {
  if (blobs.isElsewhere !== true || isRowKey(key)) return undefined;
  const hash = createHash('sha256');
  let read = 0;
  for await (const block of blobs.read(key, 0, (await blobs.size(key)) ?? 0)) {
    hash.update(block);
    read = nodeCrc32(block, read);
  }
  if (read !== crc) throw new Error(`the stored body ${key} is not the one that was received`);
  return new Uint8Array(hash.digest());
}

/** True if the stored body is the one that was accepted. */
export async function isAsKept(blobs: Blobs, key: string, kept: Uint8Array | undefined): Promise<boolean> {
  if (kept === undefined) return true;
  const hash = createHash('sha256');
  for await (const block of blobs.read(key, 0, (await blobs.size(key)) ?? 0)) hash.update(block);
  return equalBytes(hash.digest(), kept);
}
