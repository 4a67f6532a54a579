/** Message 2 (upload), the only one of a device: a signed header, the masked vector and the sealed seeds of its masks. And a batch, by names. */
import { ByteReader, ByteWriter, DecodeError, packedLength, type Suite, toHex } from '@basa/masking';
import { type Message, message, nested, type Signature, type SignedCodec, signedMessage } from './codec.ts';
import { Certificate } from './devices.ts';
import {
  type Ctx,
  checked,
  type Fields,
  field,
  fixed,
  type JoinTag,
  KIND,
  list,
  MAX_AUTHORITIES,
  MAX_BATCH,
  STATEMENT_BYTES,
  type TaskId,
  type UserId,
  u32,
  u53,
} from './fields.ts';
import { inputElements } from './input.ts';
import { type EpochName, epochNamesField } from './model.ts';
import { isHolder, MAX_PARTS, oneShotOf, type Part, sealedPartBytes, taskParts } from './one-shot-policy.ts';
import type { TaskPolicy } from './policy.ts';

export interface ShotHeaderBody {
  readonly task: TaskId;
  /** g: 16 random bytes of the device, new for every upload. */
  readonly joinTag: JoinTag;
  readonly user: UserId;
  /** The name of the model that the update was trained on: all uploads of a batch name the same one. */
  readonly model: Uint8Array;
  /** The epochs to whose keys the seeds are sealed. */
  readonly epochs: readonly EpochName[];
  /**
   * Of the sealed parts (`partsHashOf`). Nothing else in a header depends on the body: authorities see it, and with the masks they could
   * test guesses of an update against a hash, a checksum or a length of y.
   */
  readonly partsHash: Uint8Array;
}
export type ShotHeader = ShotHeaderBody & Signature;

const shotHeaderFields: Fields<ShotHeaderBody> = {
  task: field.task,
  joinTag: field.joinTag,
  user: field.user,
  model: field.hash,
  epochs: epochNamesField,
  partsHash: field.hash,
};

export const ShotHeader: SignedCodec<ShotHeaderBody> = signedMessage(KIND.shotHeader, 'shotHeader', shotHeaderFields);

/** Bytes that fit the sealed parts of any upload. */
export const SEALED_PARTS_BYTES: number = MAX_PARTS * sealedPartBytes('x25519+mlkem768', MAX_AUTHORITIES);

/** Bytes that fit a header. */
export const SHOT_HEADER_BYTES: number = STATEMENT_BYTES;

/** The data before the body of an upload. The authorities are shown only certificate and header. */
export interface ShotUpload {
  readonly certificate: Certificate;
  readonly header: ShotHeader;
  /** Of the body (y, then the sealed parts), against broken disks and proxies. */
  readonly bodyBytes: number;
  /** CRC-32 of the body. */
  readonly bodyCrc: number;
}

export const ShotUpload: Message<ShotUpload> = message<ShotUpload>(KIND.shotUpload, 'shotUpload', {
  certificate: nested(Certificate, STATEMENT_BYTES),
  header: nested(ShotHeader, SHOT_HEADER_BYTES),
  bodyBytes: u53,
  bodyCrc: u32,
});

/** Bytes that fit `ShotUpload`. */
export const SHOT_UPLOAD_BYTES: number = STATEMENT_BYTES + SHOT_HEADER_BYTES + 16;

/** The name of an upload: the hash of its signed header. */
export function uploadNameOf(suite: Suite, header: ShotHeaderBody): Ctx {
  return ShotHeader.statementHash(suite, header) as Ctx;
}

/** A part with the named authorities that hold it. */
export interface HeldPart {
  readonly part: Part;
  /** By rising index. */
  readonly holders: readonly EpochName[];
  readonly sealedBytes: number;
}

/** The sealed parts of an upload that names these authorities, in their order in the body. */
export function heldParts(
  policy: Pick<TaskPolicy, 'authorities' | 'oneShot'>,
  epochs: readonly EpochName[],
): readonly HeldPart[] {
  const { sealing } = oneShotOf(policy);
  return taskParts(policy).map((part) => {
    const holders = epochs.filter(({ authority }) => isHolder(part, authority));
    return { part, holders, sealedBytes: sealedPartBytes(sealing, holders.length) };
  });
}

/** The positions of all parts in the body. */
export interface ShotLayout {
  readonly elements: number;
  readonly vectorBytes: number;
  readonly partsBytes: number;
  readonly bodyBytes: number;
}

export function shotLayout(policy: TaskPolicy, epochs: readonly EpochName[]): ShotLayout {
  const elements = inputElements(policy);
  const vectorBytes = packedLength(elements, policy.modulus);
  const partsBytes = heldParts(policy, epochs).reduce((sum, { sealedBytes }) => sum + sealedBytes, 0);
  return { elements, vectorBytes, partsBytes, bodyBytes: vectorBytes + partsBytes };
}

export const partHashesCodec: Message<{ readonly hashes: readonly Uint8Array[] }> = message(
  KIND.partHashes,
  'partHashes',
  {
    hashes: list(MAX_PARTS, fixed(32)),
  },
);

/** The hash over the list of the hashes of the sealed parts; undefined if they have another length. */
export function partsHashOf(suite: Suite, parts: readonly HeldPart[], sealed: Uint8Array): Uint8Array | undefined {
  const pieces = splitParts(parts, sealed);
  return pieces && partHashesCodec.hash(suite, { hashes: pieces.map((piece) => suite.sha256(piece)) });
}

/** The sealed bytes of each part, as views; undefined if the length is wrong. */
export function splitParts(parts: readonly HeldPart[], sealed: Uint8Array): readonly Uint8Array[] | undefined {
  let start = 0;
  const pieces = parts.map(({ sealedBytes }) => {
    const end = start + sealedBytes;
    const piece = sealed.subarray(start, end);
    start = end;
    return piece;
  });
  return start === sealed.length ? pieces : undefined;
}

/** A batch: the uploads of one sum. */
export interface Batch {
  readonly task: TaskId;
  /** The names of the uploads, ascending: the same uploads are always the same batch. */
  readonly uploads: readonly Ctx[];
}

export const Batch: Message<Batch> = message<Batch>(KIND.batch, 'batch', {
  task: field.task,
  uploads: checked(list(MAX_BATCH, field.ctx), (uploads) =>
    uploads.every((name, n) => n === 0 || toHex(uploads[n - 1] as Ctx) < toHex(name)) ? undefined : 'not ascending',
  ),
});

export function batchOf(task: TaskId, uploads: readonly Ctx[]): Batch {
  const named = new Map(uploads.map((name) => [toHex(name), name]));
  return { task, uploads: [...named].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name) };
}

/** Bytes that fit a batch. */
export const BATCH_BYTES: number = 64 + 32 * MAX_BATCH;

/** ctx of a batch: votes name it. */
export function batchCtxOf(suite: Suite, batch: Batch): Ctx {
  return Batch.hash(suite, batch) as Ctx;
}

interface GivenVersion {
  readonly task: TaskId;
  readonly model: Uint8Array;
  readonly user: UserId;
}

export const givenVersionCodec: Message<GivenVersion> = message(KIND.givenVersion, 'givenVersion', {
  task: field.task,
  model: field.hash,
  user: field.user,
});

/** The name under which an authority remembers that an update of a device on a model is in a batch. */
export function givenNameOf(suite: Suite, task: TaskId, model: Uint8Array, user: UserId): Uint8Array {
  return givenVersionCodec.hash(suite, { task, model, user });
}

const FRAME_ALIGNMENT = 64;

/** An upload starts with its header after a length, padded so that the vector begins at a multiple of 64 bytes. */
export function frameHeader(header: Uint8Array): Uint8Array {
  const writer = new ByteWriter().u32(header.length).bytes(header);
  const used = 4 + header.length;
  return writer.bytes(new Uint8Array((FRAME_ALIGNMENT - (used % FRAME_ALIGNMENT)) % FRAME_ALIGNMENT)).finish();
}

/** Returns the header bytes and the position of the body. `maxBytes` bounds the header. */
export function unframeHeader(
  frame: Uint8Array,
  maxBytes: number,
): { readonly header: Uint8Array; readonly bodyStart: number } {
  const reader = new ByteReader(frame);
  const length = reader.u32('upload.header length');
  if (length > maxBytes) throw new DecodeError('upload.header length', `${length} exceeds ${maxBytes}`);
  const header = reader.bytes('upload.header', length);
  const padding = reader.bytes(
    'upload.padding',
    (FRAME_ALIGNMENT - ((4 + length) % FRAME_ALIGNMENT)) % FRAME_ALIGNMENT,
  );
  if (padding.some((byte) => byte !== 0)) throw new DecodeError('upload.padding', 'not zero');
  return { header, bodyStart: 4 + length + padding.length };
}
