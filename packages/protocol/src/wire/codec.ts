/**
 * Messages as lists of fields. Every field has exactly one encoding. A message starts with version, suite and kind, and has no bytes after
 * its last field. Therefore a decoded message encodes to the same bytes again.
 */
import { ByteReader, ByteWriter, DecodeError, type Signer, type Suite } from '@basa/masking';
import { type Field, type Fields, fixed, long, record, short, typesOf } from './fields.ts';

/** The version of all layouts, the first byte of every message. */
export const WIRE_VERSION = 6;
/** SHA-256, HKDF, ChaCha20-Poly1305, Ed25519, X25519, AES-128-CTR. */
const SUITE = 1;

/** Recognises, for bytes that do not decode, that an older version of this program wrote them; undefined if it did not. */
export function olderLayout([version = 0]: Uint8Array): string | undefined {
  return version > 0 && version < WIRE_VERSION
    ? `layouts of version ${version}, and this program reads ${WIRE_VERSION}`
    : undefined;
}

/** The bytes of a message, as docs/wire-format.md shows them. */
export interface Layout {
  /** The byte that names it. */
  readonly kind: number;
  readonly name: string;
  /** `name:type` of each field. */
  readonly fields: string;
}

export interface Codec<T> {
  readonly name: string;
  encode(message: T): Uint8Array;
  /** Throws `DecodeError` and nothing else. */
  decode(bytes: Uint8Array): T;
  /** Writes the same bytes into a message around it. */
  readonly write?: (writer: ByteWriter, message: T) => void;
}

export interface Message<T> extends Codec<T>, Layout {
  readonly write: (writer: ByteWriter, message: T) => void;
  /** SHA-256 of the encoding. */
  hash(suite: Suite, message: T): Uint8Array;
}

/** A message with its own kind. docs/wire-format.md lists the kinds. */
export function message<T extends object>(kind: number, name: string, fields: Fields<T>): Message<T> {
  const body = record(fields);
  const write = (writer: ByteWriter, value: T): void => body.write(writer.u8(WIRE_VERSION).u8(SUITE).u8(kind), value);
  return {
    name,
    kind,
    fields: typesOf(fields),
    write,
    encode: (value) => written(write, value).finish(),
    hash: (suite, value) => written(write, value).lend((bytes) => suite.sha256(bytes)),
    decode(bytes) {
      const reader = new ByteReader(bytes);
      expectByte(reader, `${name} version`, WIRE_VERSION);
      expectByte(reader, `${name} suite`, SUITE);
      expectByte(reader, `${name} kind`, kind);
      const value = body.read(reader, name);
      reader.end(name);
      return value;
    },
  };
}

/** Returns a writer with the output of `write` for the value. */
function written<T>(write: (writer: ByteWriter, value: T) => void, value: T): ByteWriter {
  const writer = new ByteWriter();
  write(writer, value);
  return writer;
}

function expectByte(reader: ByteReader, name: string, expected: number): void {
  const byte = reader.u8(name);
  if (byte !== expected) throw new DecodeError(name, `${byte} instead of ${expected}`);
}

/** A message inside another, after its length. */
export function nested<T>(codec: Codec<T>, max: number): Field<T> {
  const bytes = short(max);
  const { write } = codec;
  return {
    type: `nested ${codec.name}`,
    write: (w, value) =>
      write === undefined ? bytes.write(w, codec.encode(value)) : w.shortFrame(max, (inner) => write(inner, value)),
    read: (r, name) => codec.decode(r.shortBytes(name, max)),
  };
}

/** The same after a length of four bytes, for messages that grow with a batch. */
export function nestedLong<T>(codec: Codec<T>, max: number): Field<T> {
  const bytes = long(max);
  return {
    type: `nested long ${codec.name}`,
    write: (w, value) => bytes.write(w, codec.encode(value)),
    read: (r, name) => codec.decode(bytes.read(r, name)),
  };
}

const SIGNATURE_BYTES = 64;

export interface Signature {
  readonly signature: Uint8Array;
}

/** A message that ends with an Ed25519 signature over everything before it. */
export interface SignedCodec<T> extends Codec<T & Signature>, Layout {
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
    kind,
    fields: body.fields,
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

interface Kinded {
  readonly kind: string;
}

/** A codec whose bytes carry this kind byte. */
type KindedCodec<T> = Codec<T> & { readonly kind: number };

/** One codec for every kind of record. */
export type RecordCodecs<Entry extends Kinded> = {
  readonly [Kind in Entry['kind']]: KindedCodec<Omit<Extract<Entry, { kind: Kind }>, 'kind'>>;
};

const KIND_OFFSET = 2;

/** Records of several kinds: the kind byte of a layout identifies the kind. Decoding throws `DecodeError` for anything that is not one of them. */
export function recordUnion<Entry extends Kinded>(name: string, codecs: RecordCodecs<Entry>): Codec<Entry> {
  const codecOf = (kind: Entry['kind']): KindedCodec<object> => codecs[kind] as unknown as KindedCodec<object>;
  const kinds = new Map((Object.keys(codecs) as Entry['kind'][]).map((kind) => [codecOf(kind).kind, kind]));
  return {
    name,
    encode: (entry) => codecOf(entry.kind).encode(entry),
    decode(bytes) {
      const byte = bytes[KIND_OFFSET];
      const kind = byte === undefined ? undefined : kinds.get(byte);
      if (kind === undefined) throw new DecodeError(`${name} kind`, `${byte ?? 'no byte'} names no record`);
      return { kind, ...codecOf(kind).decode(bytes) } as unknown as Entry;
    },
  };
}
