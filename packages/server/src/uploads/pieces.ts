/**
 * The position at which the next piece of a body is appended. Each attempt has its own staging area, and continues from the durable bytes
 * of the last attempt.
 */
import { toHex } from '@basa/masking';
import { nodeRandomBytes } from '@basa/runtime/node';
import { fail } from '@basa/service';
import type { BlobStore, Staging } from '../blobs/blob-store.ts';
import { bodyKey } from '../blobs/body-key.ts';
import type { PieceStore } from '../store/pieces.ts';
import type { Body } from './body.ts';

type NamedBody = Pick<Body, 'upload' | 'layout'>;

interface OpenPiece {
  readonly staging: Staging;
  /** The number of bytes of the body that are durable and staged before the piece. */
  readonly standing: number;
  /** Records the number of staged bytes that count from now on. */
  settle(received: number): Promise<void>;
  /** The piece failed. */
  fail(standing: number): Promise<void>;
}

export interface Pieces {
  /** `isWhole`: the piece is the whole body. */
  open(body: NamedBody, isWhole: boolean): Promise<OpenPiece>;
}

interface PiecesOptions {
  readonly blobs: BlobStore;
  readonly store: PieceStore;
}

/** If a newer attempt exists, the older attempt writes to a staging area that is not read, and does not count. */
export function openPieces({ blobs, store }: PiecesOptions): Pieces {
  const claimed = async ({ upload, layout }: NamedBody, attempt: string): Promise<OpenPiece> => {
    const key = bodyKey(upload, layout);
    const { received, staged = attempt, isOurs } = await store.claimPiece(upload, attempt);
    const name = isOurs ? staged : attempt;
    const staging = await blobs.stage(key, name);
    const standing = await closingOnError(staging, async () => {
      if (name !== staged) await copy(await blobs.stage(key, staged), staging, received);
      if (staging.size > received) await staging.truncate(received);
      return staging.size;
    });
    return {
      staging,
      standing,
      async settle(size) {
        if (!(await store.settlePiece(upload, attempt, { received: size, staged: name })))
          fail('offset-mismatch', { detail: 'the upload continued on another connection' });
        if (name !== staged) await (await blobs.stage(key, staged)).discard();
      },
      async fail(size) {
        await store.settlePiece(upload, attempt, { received: size, staged: name });
      },
    };
  };
  return {
    async open(body, isWhole) {
      const attempt = toHex(nodeRandomBytes(8));
      // A body in one piece needs no record. If another attempt left a record, its pieces are removed.
      const { upload, layout } = body;
      if (!isWhole || (await store.hasPiece(upload))) return claimed(body, attempt);
      const staging = await blobs.stage(bodyKey(upload, layout), attempt);
      const settle = (): Promise<never> => Promise.reject(new Error('a whole body ended early'));
      return { staging, standing: 0, settle, fail: async () => {} };
    },
  };
}

/** Copies the available bytes; they are durable with the piece that follows. */
async function copy(from: Staging, to: Staging, most: number): Promise<void> {
  try {
    if (to.size > 0) await to.truncate(0);
    for await (const block of from.read(0, Math.min(most, from.size))) await to.append(block);
  } finally {
    await from.close();
  }
}

async function closingOnError<Result>(staging: Staging, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    await staging.close();
    throw error;
  }
}
