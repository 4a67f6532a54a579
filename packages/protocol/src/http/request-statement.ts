/** The statement that a device signs with every request: the words of the request, its audience, its time, and a nonce. */
import { ascii, toHex } from '@basa/masking';
import type { Millis } from '../wire/brands.ts';
import { type Codec, message } from '../wire/codec.ts';
import { type Field, fixed, short, u32, u53 } from '../wire/fields.ts';
import { KIND } from '../wire/kinds.ts';

export interface RequestStatement {
  /** The public key of the service: a request to a server means nothing to an authority. */
  readonly audience: Uint8Array;
  /** In capitals. */
  readonly method: string;
  /** Path and query, as they are sent. */
  readonly target: string;
  /** SHA-256 of the body, or of zero bytes if there is no body. */
  readonly digest: Uint8Array;
  readonly at: Millis;
  readonly nonce: Uint8Array;
}

interface Layout {
  readonly audience: Uint8Array;
  readonly method: Uint8Array;
  readonly target: Uint8Array;
  readonly digest: Uint8Array;
  readonly at: number;
  readonly nonce: Uint8Array;
}

const MAX_TARGET = 1024;

const layout: Codec<Layout> = message(KIND.requestStatement, 'requestStatement', {
  audience: fixed(32),
  method: short(16),
  target: short(MAX_TARGET),
  digest: fixed(32),
  at: u53,
  nonce: fixed(16),
});

/** A piece of an upload, which its device signs instead of a request with a digest. The target names the upload. */
export interface PieceStatement extends Pick<RequestStatement, 'audience' | 'target' | 'at' | 'nonce'> {
  readonly offset: number;
  readonly length: number;
  /** CRC-32 of the piece. */
  readonly crc: number;
}

const pieceLayout: Codec<Omit<PieceStatement, 'target'> & Pick<Layout, 'target'>> = message(
  KIND.pieceStatement,
  'pieceStatement',
  {
    audience: fixed(32),
    target: short(MAX_TARGET),
    offset: u53,
    length: u53,
    crc: u32,
    at: u53 as Field<Millis>,
    nonce: fixed(16),
  },
);

/** The bytes to sign. */
export function pieceStatement(piece: PieceStatement): Uint8Array {
  return pieceLayout.encode({ ...piece, target: ascii(piece.target) });
}

/** The bytes to sign. */
export function requestStatement(request: RequestStatement): Uint8Array {
  return layout.encode({ ...request, method: ascii(request.method), target: ascii(request.target) });
}

/** Names of the headers of a signed request. */
export const HEADER = {
  device: 'basa-device',
  time: 'basa-time',
  nonce: 'basa-nonce',
  signature: 'basa-signature',
  digest: 'content-digest',
  /** The signed header of an upload, with every piece of its body. */
  upload: 'basa-upload',
  /** The certificate of the device, in hexadecimal: it reads models and results of its task. */
  certificate: 'basa-certificate',
  /** CRC-32 of a piece, as 8 hexadecimal digits. */
  crc: 'basa-crc32',
  /** The position of a piece in the body, and in answers the number of durable bytes. */
  uploadOffset: 'upload-offset',
} as const;

/** The headers of a signed request. The digest of its body is a separate header. */
export function signatureHeaders(
  publicKey: Uint8Array,
  { at, nonce }: Pick<RequestStatement, 'at' | 'nonce'>,
  signature: Uint8Array,
): Record<string, string> {
  return {
    [HEADER.device]: toHex(publicKey),
    [HEADER.time]: String(at),
    [HEADER.nonce]: toHex(nonce),
    [HEADER.signature]: toHex(signature),
  };
}
