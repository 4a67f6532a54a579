/** Uploads into slots: a complete body is accepted by its buffer. */
import { acceptUpload, type SecureBuffer, type ServerPorts, type UploadHeader } from '@basa/protocol';
import { answerRefusal } from '@basa/service';
import type { BlobStore } from '../blobs/blob-store.ts';
import { bodyKey } from '../blobs/body-key.ts';
import type { BufferKeeper } from '../buffers/buffer-keeper.ts';
import { layoutOf, sealedIn } from '../buffers/messages.ts';
import type { SmallBody } from '../store/small-bodies.ts';
import type { Bodies, PieceRequest, Received } from './bodies.ts';
import { type Body, comesAtOnce } from './body.ts';

/** An upload whose header was judged before. */
export interface Upload {
  readonly buffer: SecureBuffer;
  readonly header: UploadHeader;
}

export interface UploadsOptions {
  readonly keeper: BufferKeeper;
  readonly blobs: BlobStore;
  readonly ports: ServerPorts;
  readonly bodies: Bodies;
}

export class Uploads {
  readonly #options: UploadsOptions;

  constructor(options: UploadsOptions) {
    this.#options = options;
  }

  /** Returns the number of bytes of this very body that are durable. */
  standing(upload: Upload): Promise<number> {
    return this.#options.bodies.standing(bodyOf(upload));
  }

  async take(upload: Upload, request: PieceRequest): Promise<Received> {
    const { bodies } = this.#options;
    const body = bodyOf(upload);
    if (comesAtOnce(body, request) && !(await bodies.hasPieces(body)))
      return bodies.takeSmall(body, request, (small) => this.#accept(upload, small));
    return bodies.take(body, request, () => this.#accept(upload));
  }

  /** `small`: a body that is not written yet. */
  async #accept({ buffer, header }: Upload, small?: SmallBody): Promise<void> {
    const { keeper, ports, blobs } = this.#options;
    const { bodyBytes } = layoutOf({ buffer, header });
    const sealing = sealedIn(buffer.descriptor);
    const body = { bytes: bodyBytes, hash: header.bodyHash, isCanonical: true };
    const more = (_: SecureBuffer, { slots }: SecureBuffer) =>
      small !== undefined && slots[header.slot]?.status === 'accepted' ? { body: small } : {};
    const answer = await keeper.step(
      buffer.ctx,
      (found, now) => acceptUpload(ports, found, header, body, sealing, now),
      { more },
    );
    if (answer.kind === 'accepted') return;
    // Removes only a body that can never be accepted. Other bodies are removed together with their slot.
    const now = await keeper.find(buffer.ctx);
    const slot = now?.slots[header.slot];
    const isOver = slot?.status === 'dropped' || (now?.status !== 'filling' && slot?.status !== 'accepted');
    if (isOver) await blobs.remove(bodyKey(header, { bodyBytes }));
    answerRefusal(answer);
  }
}

function bodyOf(upload: Upload): Body {
  return { name: upload.header, layout: layoutOf(upload), modulus: upload.buffer.descriptor.modulus };
}
