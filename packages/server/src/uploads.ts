/** Takes the body of an upload in pieces, each held to its digest, in memory of a block: late bytes are not kept. */
import { createHash } from 'node:crypto';
import type { Modulus } from '@basa/masking';
import { elementBits, equalBytes, firstNonCanonical, toHex } from '@basa/masking';
import type { Ctx, ReceivedBody, SecureBuffer, ServerPorts, Slot, UploadHeader, UploadLayout } from '@basa/protocol';
import { acceptUpload, millis, uploadLayout } from '@basa/protocol';
import { answerRefusal, fail } from '@basa/service';
import type { BlobStore, Staging } from './blobs/blob-store.ts';
import { wordPieces } from './blobs/words.ts';
import type { BufferKeeper } from './buffer-keeper.ts';
import { sealedBytesOf } from './buffer-keeper.ts';
import type { Store } from './store/store.ts';

export interface Piece {
  readonly buffer: SecureBuffer;
  readonly header: UploadHeader;
  readonly offset: number;
  /** SHA-256 that the device signed for this piece. */
  readonly digest: Uint8Array;
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface UploadsOptions {
  readonly keeper: BufferKeeper;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ports: ServerPorts;
  readonly clock: () => number;
}

export interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

/** Where the body of this upload lies; unique for slot and bytes, so that nothing is ever written over. */
export function bodyKey({ ctx, slot, bodyHash }: Pick<UploadHeader, 'ctx' | 'slot' | 'bodyHash'>): string {
  return `uploads/${toHex(ctx)}/${slot}-${toHex(bodyHash).slice(0, 32)}`;
}

export class Uploads {
  readonly #options: UploadsOptions;
  /** Slots whose piece is under way: one at a time. */
  readonly #busy = new Set<string>();

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** How much of the body is durable. */
  received(ctx: Ctx, slot: Slot): Promise<number> {
    return this.#options.store.received(ctx, slot);
  }

  /** Durable, then acknowledged. Whatever goes wrong leaves the upload where it stood before this piece. */
  async take(piece: Piece): Promise<Received> {
    const key = bodyKey(piece.header);
    if (this.#busy.has(key))
      fail('offset-mismatch', { detail: 'a piece of this upload is under way', retryAfterMs: 1000 });
    this.#busy.add(key);
    try {
      return await this.#takeAlone(piece, key);
    } finally {
      this.#busy.delete(key);
    }
  }

  async #takeAlone(piece: Piece, key: string): Promise<Received> {
    const { blobs, store } = this.#options;
    const { ctx, slot } = piece.header;
    const standing = await store.received(ctx, slot);
    if (piece.offset !== standing) fail('offset-mismatch', { detail: `the upload stands at ${standing}` });
    const staging = await blobs.stage(key);
    let isDone = false;
    try {
      // Beyond what is recorded may lie the rest of a piece that was cut off.
      await staging.truncate(standing);
      const layout = layoutOf(piece);
      await appendPiece(staging, piece, layout.bodyBytes);
      if (staging.size < layout.bodyBytes) {
        await staging.flush();
        await store.setReceived(ctx, slot, staging.size);
        return { received: staging.size, accepted: false };
      }
      const body = await describeBody(staging, piece, layout);
      await staging.commit();
      isDone = true;
      await this.#accept(piece, body, key);
      return { received: body.bytes, accepted: true };
    } catch (error) {
      if (!isDone) await staging.truncate(standing).catch(() => undefined);
      throw error;
    } finally {
      if (!isDone) await staging.close();
    }
  }

  async #accept({ buffer, header }: Piece, body: ReceivedBody, key: string): Promise<void> {
    const { keeper, ports, clock, store, blobs } = this.#options;
    const sealing = { sealedBytes: sealedBytesOf(buffer.descriptor.engine) };
    const answer = await keeper.step(buffer.ctx, (now) =>
      acceptUpload(ports, now, header, body, sealing, millis(clock())),
    );
    if (answer.kind === 'accepted') return;
    await blobs.remove(key);
    await store.setReceived(buffer.ctx, header.slot, 0);
    answerRefusal(answer);
  }
}

function layoutOf({ buffer, header }: Piece): UploadLayout {
  return uploadLayout(buffer.descriptor, header, { sealedBytes: sealedBytesOf(buffer.descriptor.engine) });
}

async function appendPiece(staging: Staging, { bytes, digest }: Piece, most: number): Promise<void> {
  const hash = createHash('sha256');
  for await (const block of bytes) {
    if (staging.size + block.length > most) fail('body-too-large', { detail: `the whole body has ${most} bytes` });
    hash.update(block);
    await staging.append(block);
  }
  if (!equalBytes(hash.digest(), digest)) fail('digest-mismatch');
}

/** What was received as a whole; where it came in one piece, its digest was computed already. */
async function describeBody(
  staging: Staging,
  { buffer, offset, digest }: Piece,
  layout: UploadLayout,
): Promise<ReceivedBody> {
  const { modulus } = buffer.descriptor;
  return {
    bytes: staging.size,
    hash: offset === 0 ? digest : await hashOf(staging),
    isCanonical: await isCanonical(staging, modulus, layout),
  };
}

async function hashOf(staging: Staging): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for await (const block of staging.read(0, staging.size)) hash.update(block);
  return hash.digest();
}

/** Whether every element is below q, and the bits after the last one are zero. */
async function isCanonical(
  staging: Staging,
  modulus: Modulus,
  { elements, vectorBytes }: UploadLayout,
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
