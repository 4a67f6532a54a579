/** A device that signs requests to a service as docs/http.md says, word by word: what it signs need not be what is sent. */
import type { Signer } from '@basa/masking';
import { millis } from '@basa/protocol';
import { HEADER, pieceStatement, requestStatement, signatureHeaders } from '@basa/protocol/http';
import { createNodeSigner, nodeCrc32, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

interface RequestToSign {
  readonly audience: Uint8Array;
  readonly method: string;
  readonly target: string;
  readonly body?: Uint8Array | string | undefined;
  readonly at: number;
  readonly nonce?: Uint8Array;
}

interface PieceToSign extends Omit<RequestToSign, 'method'> {
  readonly offset: number;
  /** If it is not that of the body. */
  readonly length?: number | undefined;
}

export interface SigningDevice {
  readonly deviceKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
  headers(request: RequestToSign): Record<string, string>;
  /** Of a piece of an upload. */
  pieceHeaders(request: PieceToSign): Record<string, string>;
}

export function signingDevice(signer: Signer = createNodeSigner(nodeRandomBytes(32))): SigningDevice {
  return {
    deviceKey: signer.publicKey,
    sign: signer.sign,
    headers({ audience, method, target, body = '', at, nonce = nodeRandomBytes(16) }) {
      const digest = nodeSuite.sha256(typeof body === 'string' ? Buffer.from(body) : body);
      const statement = { audience, method, target, digest, at: millis(at), nonce };
      return {
        ...signatureHeaders(signer.publicKey, statement, signer.sign(requestStatement(statement))),
        ...(body.length === 0 ? {} : { [HEADER.digest]: `sha-256=:${Buffer.from(digest).toString('base64')}:` }),
      };
    },
    pieceHeaders({ audience, target, body = '', at, offset, length, nonce = nodeRandomBytes(16) }) {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      const crc = nodeCrc32(bytes);
      const statement = { audience, target, offset, length: length ?? bytes.length, crc, at: millis(at), nonce };
      return {
        ...signatureHeaders(signer.publicKey, statement, signer.sign(pieceStatement(statement))),
        [HEADER.uploadOffset]: String(offset),
        [HEADER.crc]: crc.toString(16).padStart(8, '0'),
      };
    },
  };
}
