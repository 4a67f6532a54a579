/** Accepts bodies in pieces, each checked against its checksum, using one block of memory: late bytes are not kept. */
import type { Readable } from 'node:stream';
import { toHex } from '@basa/masking';
import { refused } from '@basa/protocol';
import { giveBack, nodeCrc32, nodeRandomBytes } from '@basa/runtime/node';
import { answerRefusal, fail } from '@basa/service';
import { type BlobStore, bodiesOf, bodyKey, type Staging } from '../blobs/blob-store.ts';
import { WriteBehind } from '../blobs/write-behind.ts';
import type { PieceStore } from '../store/pieces.ts';
import type { SmallBody } from '../store/shots.ts';
import type { ServerWatch } from '../watch/server-watch.ts';
import { type Body, inMemory, isExpected } from './body.ts';

/** One request with bytes of a body. */
export interface PieceRequest {
  readonly offset: number;
  /** The length that the device signed for this piece. */
  readonly declaredBytes: number;
  /** The CRC-32 that it signed. */
  readonly crc: number;
  readonly body: Readable;
}

interface BodyTools {
  readonly store: PieceStore;
  readonly blobs: BlobStore;
}

export interface Received {
  readonly received: number;
  readonly accepted: boolean;
}

export class Bodies {
  readonly #tools: BodyTools & { readonly watch: ServerWatch };
  /** The piece under way of each upload: one at a time. */
  readonly #underWay = new Map<string, { interrupt(): void; readonly ended: Promise<unknown> }>();

  constructor(tools: BodyTools & { readonly watch: ServerWatch }) {
    this.#tools = tools;
  }

  /** Returns the number of bytes of this very body that are durable. */
  async standing({ upload, layout }: Body): Promise<number> {
    const { blobs, store } = this.#tools;
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
    return this.#tools.watch.traces.step('upload', { ctx: body.upload, attributes }, take);
  }

  async #takePiece(body: Body, request: PieceRequest, accept: () => Promise<void>): Promise<Received> {
    const { bodyBytes } = body.layout;
    if ((await this.#tools.blobs.size(bodyKey(body.upload, body.layout))) === undefined) {
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
    const { staging, settle, fail: forget, ...open } = await openPiece(this.#tools, body, isWhole);
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
      await this.#tools.watch.blobCommit(() => staging.commit());
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

/**
 * Opens the position at which the next piece of a body is appended; `isWhole`: the piece is the whole body. Each attempt has its own staging
 * area, and continues from the durable bytes of the last attempt.
 */
export async function openPiece(tools: BodyTools, body: NamedBody, isWhole: boolean): Promise<OpenPiece> {
  const { blobs, store } = tools;
  const { upload, layout } = body;
  const attempt = toHex(nodeRandomBytes(8));
  // A body in one piece needs no record. If another attempt left a record, its pieces are removed.
  if (!isWhole || (await store.hasPiece(upload))) return claimPiece(tools, body, attempt);
  const staging = await blobs.stage(bodyKey(upload, layout), attempt);
  const settle = (): Promise<never> => Promise.reject(new Error('a whole body ended early'));
  return { staging, standing: 0, settle, fail: async () => {} };
}

/** If a newer attempt exists, the older attempt writes to a staging area that is not read, and does not count. */
async function claimPiece(
  { blobs, store }: BodyTools,
  { upload, layout }: NamedBody,
  attempt: string,
): Promise<OpenPiece> {
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

/** Returns undefined if the next chunk may come immediately. */
type Take = (chunk: Uint8Array) => Promise<void> | undefined;

/**
 * Reads the body of a request, chunk by chunk as it arrives: no chunk is copied, joined with others or awaited one by one. Resolves after the
 * last chunk. An error of `take` ends the reading, but the connection stays open, so that the sender
 * receives the reason.
 */
export function readBody(body: Readable, take: Take): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (end: () => void): void => {
      body.off('data', onData).off('end', onEnd).off('error', onError).off('close', onClose);
      end();
    };
    const onError = (error: unknown): void => settle(() => reject(error));
    const onEnd = (): void => settle(resolve);
    const onClose = (): void => onError(new Error('the body was cut off'));
    const onData = (chunk: Uint8Array): void => {
      try {
        const busy = take(chunk);
        if (busy === undefined) return;
        body.pause();
        busy.then(() => body.resume(), onError);
      } catch (error) {
        onError(error);
      }
    };
    body.on('data', onData).on('end', onEnd).on('error', onError).on('close', onClose);
    if (body.destroyed) onClose();
  });
}

/** All of a body of at most this many bytes, held to its checksum. */
export async function readSmall(
  { body, crc }: { readonly body: Readable; readonly crc: number },
  most: number,
): Promise<Uint8Array> {
  const memory = Buffer.allocUnsafe(most);
  let length = 0;
  await readBody(body, (chunk) => {
    if (length + chunk.length > most) fail('body-too-large', { detail: `the whole body has ${most} bytes` });
    memory.set(chunk, length);
    length += chunk.length;
    giveBack(chunk);
    return undefined;
  });
  const bytes = memory.subarray(0, length);
  if (nodeCrc32(bytes) !== crc) fail('digest-mismatch');
  return bytes;
}
