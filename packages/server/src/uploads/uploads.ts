/** Takes the body of an upload in pieces, each held to its digest, in memory of a block: late bytes are not kept. */
import type { Readable } from 'node:stream';
import { equalBytes } from '@basa/masking';
import {
  acceptUpload,
  refused,
  type SecureBuffer,
  type ServerPorts,
  type UploadHeader,
  type UploadLayout,
  uploadLayout,
} from '@basa/protocol';
import { giveBack } from '@basa/runtime/node';
import { answerRefusal, fail } from '@basa/service';
import type { BlobStore, Staging } from '../blobs/blob-store.ts';
import { bodiesOfSlot, bodyKey } from '../blobs/body-key.ts';
import { WriteBehind } from '../blobs/write-behind.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import { sealedIn } from '../buffers/messages.ts';
import type { Store } from '../store/store.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { isExpected } from './body-check.ts';
import type { BodyHashing } from './body-hash.ts';
import type { Pieces } from './pieces.ts';
import { readBody } from './read-body.ts';

/** What is uploaded: the header was judged before. */
export interface Upload {
  readonly buffer: SecureBuffer;
  readonly header: UploadHeader;
}

export interface Piece extends Upload {
  readonly offset: number;
  /** What its sender declared; NaN where it declared nothing. */
  readonly declaredBytes: number;
  /** SHA-256 that the device signed for this piece. */
  readonly digest: Uint8Array;
  readonly body: Readable;
}

export interface UploadsOptions {
  readonly keeper: BufferKeeper;
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly ports: ServerPorts;
  readonly pieces: Pieces;
  readonly hashing: BodyHashing;
  readonly watch: ServerWatch;
}

export interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

export function layoutOf({ buffer, header }: Upload): UploadLayout {
  return uploadLayout(buffer.descriptor, header, sealedIn(buffer.descriptor));
}

export class Uploads {
  readonly #options: UploadsOptions;
  /** The piece under way of each slot: one at a time. */
  readonly #underWay = new Map<string, { interrupt(): void; readonly ended: Promise<unknown> }>();

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** How much of this very body is durable. */
  async standing({ buffer, header }: Upload): Promise<number> {
    const { blobs, store } = this.#options;
    // Committed, and the process died before it was recorded.
    if ((await blobs.size(bodyKey(header))) !== undefined) return layoutOf({ buffer, header }).bodyBytes;
    const piece = await store.piece(header.ctx, header.slot);
    return piece !== undefined && equalBytes(piece.bodyHash, header.bodyHash) ? piece.received : 0;
  }

  /** Durable, then acknowledged. Whatever goes wrong leaves the upload where it stood before this piece. */
  async take(piece: Piece): Promise<Received> {
    const slot = bodiesOfSlot(piece.header.ctx, piece.header.slot);
    // A device that lost its link is back before the old connection is known to be dead.
    for (let older = this.#underWay.get(slot); older !== undefined; older = this.#underWay.get(slot)) {
      older.interrupt();
      await older.ended;
    }
    const work = this.#traced(piece).finally(() => this.#underWay.delete(slot));
    this.#underWay.set(slot, { interrupt: () => void piece.body.destroy(), ended: work.catch(() => undefined) });
    return work;
  }

  /** Waits until no piece is under way. */
  async settle(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
  }

  #traced(piece: Piece): Promise<Received> {
    const { header, offset } = piece;
    const { ctx, slot } = header;
    const attributes = { 'basa.offset': offset };
    return this.#options.watch.traces.step('upload', { ctx, slot, attributes }, () => this.#takeAlone(piece));
  }

  async #takeAlone(piece: Piece): Promise<Received> {
    const { header } = piece;
    const layout = layoutOf(piece);
    if ((await this.#options.blobs.size(bodyKey(header))) === undefined) {
      const received = await this.#append(piece, layout);
      if (received < layout.bodyBytes) return { received, accepted: false };
    }
    await this.#accept(piece, layout);
    return { received: layout.bodyBytes, accepted: true };
  }

  /** How much is durable with this piece; where that is everything, it is the body its header names. */
  async #append(piece: Piece, layout: UploadLayout): Promise<number> {
    const { header, offset, digest, declaredBytes } = piece;
    const { modulus } = piece.buffer.descriptor;
    const isWhole = offset === 0 && declaredBytes === layout.bodyBytes;
    const { staging, settle, fail: forget, ...open } = await this.#options.pieces.open(header, isWhole);
    let { standing } = open;
    try {
      if (offset !== standing) fail('offset-mismatch', { detail: `the upload stands at ${standing}` });
      await this.#appendBytes(staging, piece, layout.bodyBytes);
      if (staging.size < layout.bodyBytes) {
        await staging.flush();
        await settle(staging.size);
        return staging.size;
      }
      const expected = { bodyHash: header.bodyHash, modulus, layout };
      if (!(await isExpected(staging, expected, offset === 0 ? digest : undefined))) {
        if (standing > 0) await settle(0);
        standing = 0; // there is nothing to go on from
        answerRefusal(refused('body-mismatch'));
      }
      await this.#options.watch.blobCommit(() => staging.commit());
      return layout.bodyBytes;
    } catch (error) {
      // A full disk may refuse this as well: what lies beyond is cut off before the next piece.
      await (standing === 0 ? staging.discard() : staging.truncate(standing)).catch(() => undefined);
      await forget(standing).catch(() => undefined);
      throw error;
    } finally {
      await staging.close();
    }
  }

  async #accept({ buffer, header }: Piece, { bodyBytes }: UploadLayout): Promise<void> {
    const { keeper, ports, blobs } = this.#options;
    const sealing = sealedIn(buffer.descriptor);
    const body = { bytes: bodyBytes, hash: header.bodyHash, isCanonical: true };
    const answer = await keeper.step(buffer.ctx, (found, now) =>
      acceptUpload(ports, found, header, body, sealing, now),
    );
    if (answer.kind === 'accepted') return;
    // Only what can never be accepted any more is removed; the rest goes with its slot.
    const now = await keeper.find(buffer.ctx);
    const slot = now?.slots[header.slot];
    const isOver = slot?.status === 'dropped' || (now?.status !== 'filling' && slot?.status !== 'accepted');
    if (isOver) await blobs.remove(bodyKey(header));
    answerRefusal(answer);
  }

  /** What came before is written and hashed while the next block fills. */
  async #appendBytes(staging: Staging, { body, digest, declaredBytes }: Piece, most: number): Promise<void> {
    const hash = this.#options.hashing.begin(declaredBytes);
    const behind = new WriteBehind(staging, (block) => hash.update(block));
    let total = staging.size;
    try {
      try {
        await readBody(body, (chunk) => {
          total += chunk.length;
          if (total > most) fail('body-too-large', { detail: `the whole body has ${most} bytes` });
          const busy = behind.add(chunk);
          if (busy !== undefined) return busy.then(() => giveBack(chunk));
          giveBack(chunk); // 64 kB each: collections would come every few uploads
          return undefined;
        });
      } finally {
        await behind.end(); // nobody may close or cut the file before
      }
    } catch (error) {
      hash.forget();
      throw error;
    }
    if (!equalBytes(await hash.digest(), digest)) fail('digest-mismatch');
  }
}
