/** An upload as its expected bytes: whether a staged body is the one that its header names, and whether a stored one still is. */

import { createHash } from 'node:crypto';
import { elementBits, equalBytes, firstNonCanonical, type Modulus } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { TaskPolicy } from '@basa/protocol/policy';
import { type ShotUpload, shotLayout } from '@basa/protocol/wire';
import { nodeCrc32 } from '@basa/runtime/node';
import { type BlobStore, bodyKey, collect, isRowKey, type Staging, wordPieces } from '../blobs/blob-store.ts';

/** The position of the vector in a body. */
interface BodyLayout {
  readonly elements: number;
  readonly vectorBytes: number;
  readonly bodyBytes: number;
}

/** A body by the name of its upload, with its requirements. */
export interface Body {
  readonly upload: Ctx;
  readonly layout: BodyLayout;
  readonly modulus: Modulus;
  readonly crc: number;
  /** True if the header names these sealed parts. */
  hasParts(sealed: Uint8Array): boolean;
}

/** Returns whether the body is small and comes with one request: then it is written together with the record that counts on it. */
export function comesAtOnce(
  { upload, layout }: Body,
  { offset, declaredBytes }: { readonly offset: number; readonly declaredBytes: number },
): boolean {
  return isRowKey(bodyKey(upload, layout)) && offset === 0 && declaredBytes === layout.bodyBytes;
}

/** The requirements on a body. */
export type ExpectedBody = Pick<Body, 'crc' | 'hasParts' | 'layout' | 'modulus'>;

/** The part of a body that is read to check it. */
type Checked = Pick<Staging, 'size' | 'read'>;

/** A body that is not written anywhere yet. */
export function inMemory(bytes: Uint8Array): Checked {
  return {
    size: bytes.length,
    async *read(start, end) {
      yield bytes.subarray(start, end);
    },
  };
}

/** `knownCrc`: of everything staged, if it was computed on arrival. */
export async function isExpected(
  staging: Checked,
  { crc, hasParts, modulus, layout }: ExpectedBody,
  knownCrc: number | undefined,
): Promise<boolean> {
  if ((knownCrc ?? (await crcOf(staging))) !== crc) return false;
  const { vectorBytes, bodyBytes } = layout;
  const sealed = await collect(staging.read(vectorBytes, bodyBytes), bodyBytes - vectorBytes);
  return hasParts(sealed) && (await isCanonical(staging, modulus, layout));
}

async function crcOf(staging: Checked): Promise<number> {
  let crc = 0;
  for await (const block of staging.read(0, staging.size)) crc = nodeCrc32(block, crc);
  return crc;
}

/** True if every element is below q, and the bits after the last one are zero. */
async function isCanonical(
  staging: Checked,
  modulus: Modulus,
  { elements, vectorBytes }: BodyLayout,
): Promise<boolean> {
  const bits = elementBits(modulus);
  if (bits < 32) {
    const used = (elements * bits) % 8;
    if (used === 0) return true;
    for await (const [last = 0] of staging.read(vectorBytes - 1, vectorBytes)) return last >> used === 0;
  }
  if (modulus.kind === 'ring') return true;
  for await (const words of wordPieces(staging.read(0, vectorBytes)))
    if (firstNonCanonical(words, modulus) >= 0) return false;
  return true;
}

type Blobs = Pick<BlobStore, 'isElsewhere' | 'read' | 'size'>;

/**
 * The SHA-256 of a body that lies outside the server's own disks: the server keeps it with its record, and compares it when it sums. On its
 * own disks a checksum against accidents is enough. Returns the hash of a body that was just stored; undefined if it lies here. Throws if it is not the body with this
 * checksum.
 */
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

/** The name of the blob of an upload. */
export function shotKey(policy: TaskPolicy, name: Ctx, { header }: Pick<ShotUpload, 'header'>): string {
  return bodyKey(name, shotLayout(policy, header.epochs));
}
