/**
 * The fields of messages, the names that they carry, the kind byte of every layout, and the sizes that bound every list.
 *
 * Each field has one encoding: a value that decodes encodes to the same bytes again.
 */
import { ascii, type ByteReader, type ByteWriter, DecodeError, FIELD, type Modulus, ring } from '@basa/masking';

export interface Field<T> {
  /** In the words of docs/wire-format.md, whose layouts are written from it. */
  readonly type: string;
  write(writer: ByteWriter, value: T): void;
  read(reader: ByteReader, name: string): T;
}

export type Fields<T> = { readonly [Name in keyof T]: Field<T[Name]> };

/** `name:type` of each field, in their order. */
export function typesOf<T extends object>(fields: Fields<T>): string {
  return (Object.keys(fields) as (keyof T & string)[]).map((name) => `${name}:${fields[name].type}`).join(', ');
}

/** Fields one after the other, without a header: part of a message. */
export function record<T extends object>(fields: Fields<T>): Field<T> {
  const named = (Object.keys(fields) as (keyof T & string)[]).map((name) => ({ name, field: fields[name] }));
  return {
    type: `(${typesOf(fields)})`,
    write: (writer, value) => {
      for (const { name, field } of named) field.write(writer, value[name]);
    },
    read: (reader, parent) => {
      const value: Partial<T> = {};
      for (const { name, field } of named) value[name] = field.read(reader, `${parent}.${name}`);
      return value as T;
    },
  };
}

export const u8: Field<number> = { type: 'u8', write: (w, value) => w.u8(value), read: (r, name) => r.u8(name) };
export const u16: Field<number> = { type: 'u16', write: (w, value) => w.u16(value), read: (r, name) => r.u16(name) };
export const u32: Field<number> = { type: 'u32', write: (w, value) => w.u32(value), read: (r, name) => r.u32(name) };
export const u53: Field<number> = { type: 'u53', write: (w, value) => w.u53(value), read: (r, name) => r.u53(name) };

const f64: Field<number> = { type: 'f64', write: (w, value) => w.f64(value), read: (r, name) => r.f64(name) };

/** A positive, finite double. */
export const positive: Field<number> = checked(f64, (value) =>
  value > 0 && value < Number.POSITIVE_INFINITY ? undefined : 'not a positive number',
);

/** A finite double; not a negative zero, which would encode differently from the zero it equals. */
export const finite: Field<number> = checked(f64, (value) =>
  Number.isFinite(value) && !Object.is(value, -0) ? undefined : 'not a finite number, or a negative zero',
);

/** Another field with a further check in both directions: `problem` returns the fault, or undefined. */
export function checked<T>(field: Field<T>, problem: (value: T) => string | undefined): Field<T> {
  return {
    type: field.type,
    write: (w, value) => {
      const wrong = problem(value);
      if (wrong !== undefined) throw new RangeError(wrong);
      field.write(w, value);
    },
    read: (r, name) => {
      const value = field.read(r, name);
      const wrong = problem(value);
      if (wrong !== undefined) throw new DecodeError(name, wrong);
      return value;
    },
  };
}

/** Names, keys and signatures are copied out of a message, so that they do not keep its bytes alive. */
const COPIED_UP_TO = 64;

/** Exactly `length` bytes; a view of the message if they are many. */
export function fixed<T extends Uint8Array = Uint8Array>(length: number): Field<T> {
  return {
    type: `${length}`,
    write: (w, value) => {
      if (value.length !== length) throw new RangeError(`${value.length} bytes instead of ${length}`);
      w.bytes(value);
    },
    read: (r, name) => (length <= COPIED_UP_TO ? r.copiedBytes(name, length) : r.bytes(name, length)) as T,
  };
}

/** Up to `max` bytes after their length. */
export function short(max: number): Field<Uint8Array> {
  return {
    type: `short≤${max}`,
    write: (w, value) => {
      if (value.length > max) throw new RangeError(`${value.length} bytes exceed ${max}`);
      w.shortBytes(value);
    },
    read: (r, name) => r.shortBytes(name, max).slice(),
  };
}

/** Up to `max` bytes after a length of four bytes. */
export function long(max: number): Field<Uint8Array> {
  return {
    type: `long≤${max}`,
    write: (w, value) => {
      if (value.length > max) throw new RangeError(`${value.length} bytes exceed ${max}`);
      w.u32(value.length).bytes(value);
    },
    read: (r, name) => {
      const length = r.u32(`${name} length`);
      if (length > max) throw new DecodeError(`${name} length`, `${length} exceeds ${max}`);
      return r.bytes(name, length).slice();
    },
  };
}

/** Up to `max` letters of ASCII after their number. */
export function text<T extends string = string>(max: number): Field<T> {
  const letters = checked(short(max), (bytes) => (bytes.some((byte) => byte > 0x7f) ? 'not ASCII' : undefined));
  return {
    type: letters.type,
    write: (w, value) => letters.write(w, ascii(value)),
    read: (r, name) => String.fromCharCode(...letters.read(r, name)) as T,
  };
}

/** An integer below `limit`, in two bytes. */
export function below<T extends number = number>(limit: number): Field<T> {
  return checked(u16 as Field<T>, (value) => (value < limit ? undefined : `${value} is not below ${limit}`));
}

/** 0 or 1 in one byte. */
export const flag: Field<boolean> = {
  type: 'flag',
  write: (w, value) => w.u8(value ? 1 : 0),
  read: (r, name) => {
    const byte = r.u8(name);
    if (byte > 1) throw new DecodeError(name, `${byte} is neither 0 nor 1`);
    return byte === 1;
  },
};

/** 1 and the value, or 0. */
export function optional<T>(field: Field<T>): Field<T | undefined> {
  return {
    type: `optional ${field.type}`,
    write: (w, value) => {
      flag.write(w, value !== undefined);
      if (value !== undefined) field.write(w, value);
    },
    read: (r, name) => (flag.read(r, `${name} flag`) ? field.read(r, name) : undefined),
  };
}

/** One of a few names, as its index in one byte. */
export function oneOf<T extends string>(names: readonly T[]): Field<T> {
  return {
    type: names.join('|'),
    write: (w, value) => w.u8(names.indexOf(value)),
    read: (r, name) => {
      const index = r.u8(name);
      const value = names[index];
      if (value === undefined) throw new DecodeError(name, `no meaning of ${index}`);
      return value;
    },
  };
}

/** Exactly `count` items, without a count on the wire, because the task determines it. */
export function times<T>(count: number, item: Field<T>): Field<readonly T[]> {
  return {
    type: `${count} times ${item.type}`,
    write: (w, values) => {
      if (values.length !== count) throw new RangeError(`${values.length} items instead of ${count}`);
      for (const value of values) item.write(w, value);
    },
    read: (r, name) => readItems(r, name, count, item),
  };
}

/** Up to `max` items after their count. */
export function list<T>(max: number, item: Field<T>): Field<readonly T[]> {
  return {
    type: `list≤${max} of ${item.type}`,
    write: (w, values) => {
      if (values.length > max) throw new RangeError(`${values.length} items exceed ${max}`);
      w.u16(values.length);
      for (const value of values) item.write(w, value);
    },
    read: (r, name) => {
      const count = r.u16(`${name} count`);
      if (count > max) throw new DecodeError(`${name} count`, `${count} exceeds ${max}`);
      return readItems(r, name, count, item);
    },
  };
}

/** In a plain loop: messages have many short lists. */
function readItems<T>(r: ByteReader, name: string, count: number, item: Field<T>): readonly T[] {
  const items: T[] = [];
  for (let i = 0; i < count; i++) items.push(item.read(r, `${name}[${i}]`));
  return items;
}

/** A group: one byte, 0 for the field, the number of bits for a ring. */
export const modulusField: Field<Modulus> = {
  type: 'group',
  write: (writer, modulus) => writer.u8(modulus.kind === 'field' ? 0 : modulus.bits),
  read: (reader, name) => {
    const bits = reader.u8(name);
    if (bits === 0) return FIELD;
    if (bits < 2 || bits > 32) throw new DecodeError(name, `no ring of ${bits} bits`);
    return ring(bits);
  },
};

declare const brand: unique symbol;
type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** A position of a buffer, 0 .. K-1. */
export type Position = Brand<number, 'Position'>;
/** Milliseconds since the epoch, by some party's clock. */
export type Millis = Brand<number, 'Millis'>;
/** Name of a task: SHA-256 of its policy. */
export type TaskId = Brand<Uint8Array, 'TaskId'>;
/** Names one buffer or batch: 32 random bytes in `paper` mode, otherwise the hash of its content. */
export type Ctx = Brand<Uint8Array, 'Ctx'>;
/** u = SHA-256(device public key). */
export type UserId = Brand<Uint8Array, 'UserId'>;
/** g: 16 random bytes that name one upload of one user. */
export type JoinTag = Brand<Uint8Array, 'JoinTag'>;
/** a_k: the attribute of a position of one buffer. */
export type Attribute = Brand<Uint8Array, 'Attribute'>;

export const millis = (value: number): Millis => value as Millis;

/** The kind byte of every layout that is sent, signed or hashed. docs/wire-format.md is the table for readers. */
export const KIND = {
  certificate: 1,
  policy: 2,
  requestStatement: 20,
  pieceStatement: 24,
  revocations: 22,
  deviceExport: 23,
  vote: 27,
  epoch: 40,
  modelStatement: 41,
  liveEpochs: 42,
  shownModel: 43,
  shotHeader: 44,
  shotUpload: 45,
  inspectRequest: 46,
  inspectAnswer: 47,
  batch: 48,
  batchVoteRequest: 49,
  releaseRequest: 51,
  releaseAnswer: 52,
  maskSum: 53,
  paperConnectAnswer: 32,
  paperTicket: 33,
  paperUpload: 34,
  attribute: 65,
  sealingContext: 67,
  partContext: 73,
  partHashes: 76,
  givenVersion: 75,
  sessionAcknowledged: 115,
  sessionShot: 118,
  ledgerGiven: 121,
} as const;

/** The largest number of positions in a buffer. */
export const MAX_POSITIONS = 1024;
/** The largest number of sums that one version of the model is made of, and that it leaves out. */
export const MAX_SUMS = 64;
/** The largest number of uploads in a batch of the one-shot mode. */
export const MAX_BATCH = 10_000;
/** The largest number of authorities of a task. */
export const MAX_AUTHORITIES = 8;
/** Bytes that fit all signatures of a statement. */
const ENDORSEMENT_BYTES = 2 + 65 * MAX_AUTHORITIES;

/** The size limit for a statement inside another message. */
export const STATEMENT_BYTES: number = 512 + ENDORSEMENT_BYTES;

/** Named fields that many messages have. */
export const field = {
  ctx: fixed<Ctx>(32),
  hash: fixed(32),
  joinTag: fixed<JoinTag>(16),
  millis: u53 as Field<Millis>,
  position: below<Position>(MAX_POSITIONS),
  task: fixed<TaskId>(32),
  user: fixed<UserId>(32),
} as const;
