/** Accepts bodies in pieces, each checked against its checksum, using one block of memory: late bytes are not kept. */
import type { Readable } from 'node:stream';
import { refused } from '@basa/protocol';
import { giveBack, nodeCrc32 } from '@basa/runtime/node';
import { answerRefusal, fail } from '@basa/service';
import type { BlobStore, Staging } from '../blobs/blob-store.ts';
import { bodiesOf, bodyKey } from '../blobs/body-key.ts';
import { WriteBehind } from '../blobs/write-behind.ts';
import type { PieceStore } from '../store/pieces.ts';
import type { SmallBody } from '../store/small-bodies.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import type { Body } from './body.ts';
import { inMemory, isExpected } from './body-check.ts';
import type { Pieces } from './pieces.ts';
import { readBody, readSmall } from './read-body.ts';

/** One request with bytes of a body. */
export interface PieceRequest {
  readonly offset: number;
  /** The length that the device signed for this piece. */
  readonly declaredBytes: number;
  /** The CRC-32 that it signed. */
  readonly crc: number;
  readonly body: Readable;
}

export interface BodiesOptions {
  readonly store: PieceStore;
  readonly blobs: BlobStore;
  readonly pieces: Pieces;
  readonly watch: ServerWatch;
}

export interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

export class Bodies {
  readonly #options: BodiesOptions;
  /** The piece under way of each upload: one at a time. */
  readonly #underWay = new Map<string, { interrupt(): void; readonly ended: Promise<unknown> }>();

  constructor(options: BodiesOptions) {
    this.#options = options;
  }

  /** Returns the number of bytes of this very body that are durable. */
  async standing({ upload, layout }: Body): Promise<number> {
    const { blobs, store } = this.#options;
    // It was committed, and the process crashed before it was recorded.
    if ((await blobs.size(bodyKey(upload, layout))) !== undefined) return layout.bodyBytes;
    return await store.receivedOf(upload);
  }

  /** Durable, then accepted by `accept`, then acknowledged. After any error the upload is as it was before this piece. */
  take(body: Body, request: PieceRequest, accept: () => Promise<void>): Promise<Received> {
    return this.#alone(body, request, () => this.#takePiece(body, request, accept));
  }

  /** A small body that comes whole: `accept` writes it together with the record that counts on it. */
  takeSmall(body: Body, request: PieceRequest, accept: (small: SmallBody) => Promise<void>): Promise<Received> {
    return this.#alone(body, request, async () => {
      const { upload, layout } = body;
      const bytes = await readSmall(request, layout.bodyBytes);
      if (!(await isExpected(inMemory(bytes), body, request.crc))) answerRefusal(refused('body-mismatch'));
      await accept({ key: bodyKey(upload, layout), bytes });
      return { received: layout.bodyBytes, accepted: true };
    });
  }

  async #alone(body: Body, request: PieceRequest, take: () => Promise<Received>): Promise<Received> {
    const upload = bodiesOf(body.upload);
    // A device that lost its connection is back before the old one is known to be dead.
    for (let older = this.#underWay.get(upload); older !== undefined; older = this.#underWay.get(upload)) {
      older.interrupt();
      await older.ended;
    }
    const work = this.#traced(body, request, take).finally(() => this.#underWay.delete(upload));
    this.#underWay.set(upload, { interrupt: () => void request.body.destroy(), ended: work.catch(() => undefined) });
    return work;
  }

  /** Waits until no piece is under way. */
  async settle(): Promise<void> {
    await Promise.all([...this.#underWay.values()].map(({ ended }) => ended));
  }

  #traced(body: Body, request: PieceRequest, take: () => Promise<Received>): Promise<Received> {
    const attributes = { 'basa.offset': request.offset };
    return this.#options.watch.traces.step('upload', { ctx: body.upload, attributes }, take);
  }

  async #takePiece(body: Body, request: PieceRequest, accept: () => Promise<void>): Promise<Received> {
    const { bodyBytes } = body.layout;
    if ((await this.#options.blobs.size(bodyKey(body.upload, body.layout))) === undefined) {
      const received = await this.#append(body, request);
      if (received < bodyBytes) return { received, accepted: false };
    }
    await accept();
    return { received: bodyBytes, accepted: true };
  }

  /** Returns the number of bytes that are durable with this piece; if that is everything, it is the expected body. */
  async #append(body: Body, request: PieceRequest): Promise<number> {
    const { layout } = body;
    const { offset, crc, declaredBytes } = request;
    const isWhole = offset === 0 && declaredBytes === layout.bodyBytes;
    const { staging, settle, fail: forget, ...open } = await this.#options.pieces.open(body, isWhole);
    let { standing } = open;
    try {
      if (offset !== standing) fail('offset-mismatch', { detail: `${standing} bytes of the upload were received` });
      await this.#appendBytes(staging, request, layout.bodyBytes);
      if (staging.size < layout.bodyBytes) {
        await staging.flush();
        await settle(staging.size);
        return staging.size;
      }
      if (!(await isExpected(staging, body, offset === 0 ? crc : undefined))) {
        if (standing > 0) await settle(0);
        standing = 0; // there is nothing to continue from
        answerRefusal(refused('body-mismatch'));
      }
      await this.#options.watch.blobCommit(() => staging.commit());
      return layout.bodyBytes;
    } catch (error) {
      // A full disk may refuse this as well: the excess is cut off before the next piece.
      await (standing === 0 ? staging.discard() : staging.truncate(standing)).catch(() => undefined);
      await forget(standing).catch(() => undefined);
      throw error;
    } finally {
      await staging.close();
    }
  }

  /** Earlier bytes are written while the next block fills. */
  async #appendBytes(staging: Staging, { body, crc: signed }: PieceRequest, most: number): Promise<void> {
    const behind = new WriteBehind(staging);
    let [total, crc] = [staging.size, 0];
    try {
      await readBody(body, (chunk) => {
        total += chunk.length;
        if (total > most) fail('body-too-large', { detail: `the whole body has ${most} bytes` });
        crc = nodeCrc32(chunk, crc);
        const busy = behind.add(chunk);
        if (busy !== undefined) return busy.then(() => giveBack(chunk));
        giveBack(chunk); // 64 kB each: collections would come every few uploads
        return undefined;
      });
    } finally {
      await behind.end(); // the file must not be closed or cut before
    }
    if (crc !== signed) fail('digest-mismatch');
  }
}
