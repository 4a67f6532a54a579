/** Messages that one party signs. */
import { type ByteWriter, DecodeError, type Signer, type Suite } from '@basa/masking';
import { type Codec, message, written } from './codec.ts';
import { type Fields, fixed } from './fields.ts';

const SIGNATURE_BYTES = 64;

export interface Signature {
  readonly signature: Uint8Array;
}

/** A message that ends with an Ed25519 signature over everything before it. */
export interface SignedCodec<T> extends Codec<T & Signature> {
  /** The bytes that are signed. */
  statement(body: T): Uint8Array;
  /** SHA-256 of the bytes that are signed. */
  statementHash(suite: Suite, body: T): Uint8Array;
  /** True if the signature is a valid one of this key. */
  isSignedBy(suite: Suite, message: T & Signature, publicKey: Uint8Array): boolean;
}

export function signedMessage<T extends object>(kind: number, name: string, fields: Fields<T>): SignedCodec<T> {
  const body = message(kind, name, fields);
  const signature = fixed(SIGNATURE_BYTES);
  const write = (writer: ByteWriter, value: T & Signature): void => {
    body.write(writer, value);
    signature.write(writer, value.signature);
  };
  return {
    name,
    write,
    statement: (value) => body.encode(value),
    statementHash: (suite, value) => body.hash(suite, value),
    isSignedBy: (suite, value, publicKey) =>
      written(body.write, value).lend((bytes) =>
        suite.verify({ signature: value.signature, message: bytes, publicKey }),
      ),
    encode: (value) => written(write, value).finish(),
    decode(bytes) {
      const end = bytes.length - SIGNATURE_BYTES;
      if (end < 0) throw new DecodeError(`${name}.signature`, 'truncated');
      return Object.assign(body.decode(bytes.subarray(0, end)), { signature: bytes.slice(end) });
    },
  };
}

/** The statement with a signature of the key. */
export function signStatement<T extends object>(
  codec: Pick<SignedCodec<T>, 'statement'>,
  signer: Signer,
  body: T,
): T & Signature {
  return { ...body, signature: signer.sign(codec.statement(body)) };
}

/** True if the statement carries a valid signature of this key. */
export function isSigned<T extends object>(
  suite: Suite,
  codec: SignedCodec<T>,
  signed: T & Signature,
  publicKey: Uint8Array,
): boolean {
  return codec.isSignedBy(suite, signed, publicKey);
}
