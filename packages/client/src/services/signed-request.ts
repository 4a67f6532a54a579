/** The words of a request that a device signs: audience, method, target, digest, time and a nonce; of a piece, its place and checksum. */
import type { RandomBytes, Suite } from '@basa/masking';
import type { Millis } from '@basa/protocol';
import { HEADER, pieceStatement, requestStatement, signatureHeaders } from '@basa/protocol/http';
import type { DeviceSigner } from '../device/device-store.ts';

export interface Words {
  /** Public key of the service. */
  readonly audience: Uint8Array;
  readonly method: string;
  readonly target: string;
  readonly digest: Uint8Array;
  readonly at: Millis;
}

export function digestOf(suite: Suite, body: Uint8Array | undefined): Uint8Array {
  return suite.sha256(body ?? new Uint8Array());
}

/** RFC 9530. */
export function contentDigest(digest: Uint8Array): string {
  return `sha-256=:${btoa(String.fromCharCode(...digest))}:`;
}

export async function signedHeaders(
  signer: DeviceSigner,
  randomBytes: RandomBytes,
  words: Words,
): Promise<Record<string, string>> {
  const statement = { ...words, nonce: randomBytes(16) };
  return signatureHeaders(signer.publicKey, statement, await signer.sign(requestStatement(statement)));
}

/** The words of a piece of an upload. */
export interface PieceWords extends Pick<Words, 'audience' | 'target' | 'at'> {
  readonly offset: number;
  readonly length: number;
  readonly crc: number;
}

export async function signedPieceHeaders(
  signer: DeviceSigner,
  randomBytes: RandomBytes,
  words: PieceWords,
): Promise<Record<string, string>> {
  const statement = { ...words, nonce: randomBytes(16) };
  const signature = await signer.sign(pieceStatement(statement));
  return {
    ...signatureHeaders(signer.publicKey, statement, signature),
    [HEADER.uploadOffset]: String(words.offset),
    [HEADER.crc]: words.crc.toString(16).padStart(8, '0'),
  };
}
