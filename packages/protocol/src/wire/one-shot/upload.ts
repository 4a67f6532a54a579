/** The only message of a device in the one-shot mode: a signed header, the masked vector and the sealed seeds of its masks. */
import { packedLength, type Suite } from '@basa/masking';
import type { Ctx, JoinTag, TaskId, UserId } from '../brands.ts';
import { type Certificate, certificateCodec } from '../certificate.ts';
import { type Codec, message, nested } from '../codec.ts';
import { MAX_AUTHORITIES } from '../council.ts';
import { type Fields, fixed, list, u32, u53 } from '../fields.ts';
import { inputElements } from '../input-words.ts';
import { KIND } from '../kinds.ts';
import { field, STATEMENT_BYTES } from '../named-fields.ts';
import type { TaskPolicy } from '../policy.ts';
import { type Signature, type SignedCodec, signedMessage } from '../signed.ts';
import { type EpochName, epochNamesField } from './epoch.ts';
import { isHolder, oneShotOf, type Part, taskParts } from './parts.ts';
import { MAX_PARTS } from './policy.ts';
import { sealedPartBytes } from './sealings.ts';

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

export const shotHeaderCodec: SignedCodec<ShotHeaderBody> = signedMessage(
  KIND.shotHeader,
  'shotHeader',
  shotHeaderFields,
);

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

export const shotUploadCodec: Codec<ShotUpload> = message<ShotUpload>(KIND.shotUpload, 'shotUpload', {
  certificate: nested(certificateCodec, STATEMENT_BYTES),
  header: nested(shotHeaderCodec, SHOT_HEADER_BYTES),
  bodyBytes: u53,
  bodyCrc: u32,
});

/** Bytes that fit `shotUploadCodec`. */
export const SHOT_UPLOAD_BYTES: number = STATEMENT_BYTES + SHOT_HEADER_BYTES + 16;

/** The name of an upload: the hash of its signed header. */
export function uploadNameOf(suite: Suite, header: ShotHeaderBody): Ctx {
  return shotHeaderCodec.statementHash(suite, header) as Ctx;
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

const partHashesCodec = message<{ readonly hashes: readonly Uint8Array[] }>(KIND.partHashes, 'partHashes', {
  hashes: list(MAX_PARTS, fixed(32)),
});

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
