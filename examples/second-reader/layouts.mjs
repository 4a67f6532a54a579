// The statements that a user meets, field by field in the order of docs/wire-format.md ("Statements").
import {
  bytes,
  f64,
  fields,
  increasing,
  layout,
  list,
  long,
  must,
  nested,
  short,
  text,
  times,
  u8,
  u16,
  u32,
  u53,
} from './bytes.mjs';

const hash = bytes(32);

/** One type where a first byte says which fields follow. */
const choice = (...kinds) => ({
  write: (value) => Buffer.concat([u8.write(value.kind), fields(kinds[value.kind]).write(value)]),
  read: (reader) => {
    const kind = u8.read(reader);
    must(kind < kinds.length, `kind ${kind}`);
    return { kind, ...fields(kinds[kind]).read(reader) };
  },
});
const staleness = choice({}, { exponent: f64 }, { slope: f64, grace: f64 });
const privacy = choice({}, { noise: f64, colluders: u16, delta: f64, participations: u32 });
const metrics = list(fields({ name: text(32), low: f64, high: f64 }), 16);
const authorities = fields({ keys: list(hash, 16), t: u8, unsafeThreshold: u8 });

export const ENGINE = { cpAbe: 1, slotKeys: 3 };

export const policy = layout(2, 'hashed', {
  name: text(64),
  authorities,
  engine: u8,
  K: u16,
  Kmin: u16,
  d: u32,
  group: u8,
  level: u32,
  clip: f64,
  blockFloor: f64,
  staleness,
  maxStaleness: u32,
  unsafeTinyWeights: u8,
  metrics,
  privacy,
  manifest: hash,
  training: fields({ epochs: u16, batch: u16, rate: f64, loss: u8 }),
  server: hash,
  uploadLeaseMs: u32,
  openMs: u32,
  closeMs: u32,
});

export const certificate = layout(1, 'endorsed', { task: hash, deviceKey: hash, issuedAt: u53, notAfter: u53 });

export const descriptor = layout(3, 'endorsed', {
  authorities,
  engine: u8,
  task: hash,
  parts: list(fields({ authority: u8, offer: bytes(16), sealingKey: short(4096) }), 16),
  K: u16,
  Kmin: u16,
  version: u53,
  model: hash,
  d: u32,
  group: u8,
  level: u32,
  clip: f64,
  blockFloor: f64,
  W: u32,
  staleness,
  maxStaleness: u32,
  unsafeTinyWeights: u8,
  metrics,
  privacy,
  manifest: hash,
  server: hash,
  uploadLeaseMs: u32,
  expiry: u53,
  closeBy: u53,
});
export const drawnBuffer = layout(24, 'hashed', { descriptor: nested(descriptor), slotKeys: long(524800) });

const tagAndRoot = { g: hash, D: hash };
export const depositStatement = layout(4, 'signed', { ctx: hash, ...tagAndRoot });
const ticket = layout(5, 'signed', { ctx: hash, slot: u16, ...tagAndRoot, view: hash, deadline: u53 });
export const receipt = layout(7, 'endorsed', { ctx: hash, slot: u16, ...tagAndRoot, view: hash });

/** Layouts 10 and 11 hold sealed seeds without a length: `n` bytes each, by engine and number of parts. */
export const deposit = (K, n) =>
  layout(10, 'hashed', {
    certificate: nested(certificate),
    ctx: hash,
    nonce: bytes(16),
    D: hash,
    edges: times(K - 1, fields({ commitment: hash, sealed: bytes(n) })),
    signature: bytes(64),
  });
export const depositAnswer = (n) =>
  layout(11, 'hashed', {
    ticket: nested(ticket),
    inbox: list(fields({ ...tagAndRoot, siblings: list(hash), commitment: hash, sealed: bytes(n) })),
  });

export const keyRequest = layout(6, 'signed', {
  certificate: nested(certificate),
  nonce: bytes(16),
  ticket: nested(ticket),
  earlier: list(fields(tagAndRoot)),
  ephemeral: hash,
});
const issuedKey = layout(25, 'signed', { request: hash, keyHash: hash });
export const keyAnswer = layout(8, 'hashed', {
  envelope: short(1024),
  receipt: nested(receipt),
  issuedKey: nested(issuedKey),
});

export const uploadHeader = layout(9, 'signed', {
  ctx: hash,
  slot: u16,
  g: hash,
  view: hash,
  selfName: short(32),
  bodyHash: hash,
  voids: increasing,
  receipt: nested(receipt),
});

const outcomeSlots = list(fields({ slot: u16, g: hash }));
export const outcome = layout(14, 'signed', { ctx: hash, status: u8, accepted: outcomeSlots });
export const OUTCOME = ['unknown', 'open', 'aborted', 'closed'];

export const modelEntry = layout(15, 'endorsed', { task: hash, version: u53, model: hash, ctx: hash, previous: hash });
const position = { branch: bytes(16), sequence: u53, revocations: u53, hash };
export const head = layout(16, 'signed', position);
export const newestModel = layout(23, 'signed', { nonce: bytes(16), entry: nested(modelEntry), ...position });

/** What a device signs with every request (docs/http.md). */
export const request = layout(20, 'signed', {
  audience: hash,
  method: text(16),
  target: text(1024),
  digest: hash,
  at: u53,
  nonce: bytes(16),
});
