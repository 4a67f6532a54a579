import { ByteReader, ByteWriter, DecodeError, FIELD, packVector, RING_32, ring } from '@basa/masking';
import {
  authorityMessages,
  frameHeader,
  headerBytes,
  MAX_SLOTS,
  readSealedParts,
  ticketCodec,
  unframeHeader,
  uploadLayout,
  userMessages,
  viewVector,
} from '@basa/protocol';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import { fuzzDecoder } from '@basa/testkit/fuzz/decoders.ts';
import { describe, expect, it } from 'vitest';
import { MAX_AUTHORITIES } from '../../src/wire/council.ts';
import { slotKeysField } from '../../src/wire/drawn-buffer.ts';
import { KIND } from '../../src/wire/kinds.ts';
import { modulusField } from '../../src/wire/modulus-field.ts';

const samples = sampleMessages();
/** Messages of others; those that a party reads from its own disk are tested less often. */
const runsOf = (kind: number): number => (kind < KIND.taskCreated ? 4_000 : 2_000);

describe('every message', () => {
  it('is among the samples', () => {
    const sampled = new Set(samples.map(({ bytes }) => bytes[2]));
    const hashedOnly = new Set<number>([
      KIND.join,
      KIND.attribute,
      KIND.chainLink,
      KIND.closing,
      KIND.sealingContext,
      KIND.commitment,
      KIND.keyEnvelope,
      KIND.logLink,
      KIND.registration,
      KIND.requestStatement,
      KIND.partContext,
      KIND.usedUpload,
      KIND.givenVersion,
      KIND.termPrefix,
      KIND.termAccepted,
      KIND.termRecovered,
    ]);
    const missing = Object.entries(KIND).filter(([, kind]) => !sampled.has(kind) && !hashedOnly.has(kind));
    expect(missing).toEqual([]);
    expect(new Set(Object.values(KIND)).size).toBe(Object.keys(KIND).length);
  });

  it.each(samples.map((sample) => [sample.name, sample] as const))(
    '%s comes back from its bytes, and they from it',
    (_, { codec, bytes }) => {
      expect(codec.encode(codec.decode(bytes))).toEqual(bytes);
    },
  );

  it.each(samples.map((sample) => [sample.name, sample] as const))(
    '%s names the mistake when it is cut, too long, or of another version, suite or kind',
    (_, { codec, bytes }) => {
      for (let length = 0; length < bytes.length; length += 1 + (length >> 4)) {
        expect(() => codec.decode(bytes.subarray(0, length))).toThrow(DecodeError);
      }
      expect(() => codec.decode(Uint8Array.from([...bytes, 0]))).toThrow(DecodeError);
      for (const place of [0, 1, 2]) {
        const other = bytes.slice();
        other[place] = 200;
        expect(() => codec.decode(other)).toThrow(DecodeError);
      }
    },
  );

  it.each(samples.map((sample) => [sample.name, runsOf(sample.bytes[2] ?? 0), sample] as const))(
    '%s: %d hostile inputs give a DecodeError or canonical bytes, nothing else',
    (_, wanted, sample) => {
      const { runs, decoded } = fuzzDecoder(sample, wanted, 1);
      expect(runs).toBe(wanted);
      expect(decoded).toBeLessThan(runs);
    },
  );
});

describe('the largest messages', () => {
  const K = MAX_SLOTS;
  const { closeAnswer, closeRequest, keyRequest, uploadHeader } = authorityMessages(K);
  const bytes = (length: number) => new Uint8Array(length) as never;
  const slots = Array.from({ length: K }, (_, slot) => slot as never);
  const accepted = slots.map((slot) => ({ slot, joinTag: bytes(32) }));
  const outcome = { ctx: bytes(32), status: 'closed' as const, accepted, signature: bytes(64) };

  const vote = {
    task: bytes(32),
    ctx: bytes(32),
    closing: bytes(32),
    endorsements: Array.from({ length: 16 }, (_, authority) => ({ authority, signature: bytes(64) })),
  };

  it('of a buffer of the largest size can be written and read', () => {
    const keys = slots.map((slot) => ({ slot, role: 'edge' as const, key: bytes(280) }));
    const answer = { vote, outcome, keys, signature: bytes(64) };
    expect(closeAnswer.decode(closeAnswer.encode(answer))).toEqual(answer);
    const { headers, ...request } = closeRequest.decode(
      samples.find(({ name }) => name === 'closeRequest')?.bytes as Uint8Array,
    );
    const deposits = slots.map(() => request.deposits[0] as never);
    const voids = slots.slice(0, -1);
    const whole = {
      ...request,
      deposits,
      accepted: slots,
      headers: slots.map((slot) => ({ ...(headers[0] as object), slot, voids }) as never),
    };
    expect(closeRequest.decode(closeRequest.encode(whole)).headers).toHaveLength(K);
    const asked = keyRequest.decode(samples.find(({ name }) => name === 'keyRequest')?.bytes as Uint8Array);
    const earlier = slots.slice(1).map(() => asked.earlier[0] as never);
    expect(keyRequest.decode(keyRequest.encode({ ...asked, earlier })).earlier).toHaveLength(K - 1);
    expect(() => keyRequest.encode({ ...asked, earlier: [...earlier, earlier[0] as never] })).toThrow(RangeError);
    const [any] = headers as unknown as readonly [{ receipt: object }];
    const receipt = { ...any.receipt, endorsements: vote.endorsements };
    const header = uploadHeader.encode({ ...any, receipt, slot: K - 1, voids } as never);
    expect(header.length).toBeLessThanOrEqual(headerBytes(K));
  });

  it('cannot be written if they could not be read again', () => {
    const tooMany = {
      vote,
      outcome: { ...outcome, accepted: [...accepted, accepted[0] as never] },
      keys: [],
      signature: bytes(64),
    };
    expect(() => closeAnswer.encode(tooMany)).toThrow(RangeError);
    const request = closeRequest.decode(samples.find(({ name }) => name === 'closeRequest')?.bytes as Uint8Array);
    expect(() => closeRequest.encode({ ...request, accepted: [1, 1] as never })).toThrow(RangeError);
  });
});

describe('a buffer', () => {
  it('takes the inbox of its last slot, and no entry more', () => {
    const { depositAnswer } = userMessages(4, { sealedBytes: 240 });
    const answer = (length: number) => ({
      ticket: ticketCodec.decode(samples.find(({ name }) => name === 'ticket')?.bytes as Uint8Array),
      inbox: Array.from({ length }, () => ({
        joinTag: new Uint8Array(32) as never,
        root: new Uint8Array(32) as never,
        path: [],
        commitment: new Uint8Array(32),
        sealed: new Uint8Array(240),
      })),
    });
    expect(depositAnswer.decode(depositAnswer.encode(answer(3))).inbox).toHaveLength(3);
    expect(() => depositAnswer.encode(answer(4))).toThrow(RangeError);
  });
});

describe('the lists of slot keys', () => {
  it('fit a buffer of the most slots with parts of the most authorities, and nothing longer', () => {
    const most = 32 * (MAX_SLOTS + 1) * MAX_AUTHORITIES;
    const written = (length: number) => {
      const writer = new ByteWriter();
      slotKeysField.write(writer, new Uint8Array(length));
      return writer.finish();
    };
    expect(slotKeysField.read(new ByteReader(written(most)), 'slotKeys')).toHaveLength(most);
    expect(() => written(most + 1)).toThrow(RangeError);
  });
});

describe('a group', () => {
  it('is the field, or a ring of 2 to 32 bits', () => {
    const read = (bits: number) => modulusField.read(new ByteReader(Uint8Array.of(bits)), 'modulus');
    expect([read(0), read(2), read(32)]).toEqual([FIELD, ring(2), ring(32)]);
    for (const bits of [1, 33]) expect(() => read(bits)).toThrow(DecodeError);
  });
});

describe('the frame of an upload', () => {
  it('puts the vector at a multiple of 64 bytes for every header', () => {
    for (let length = 0; length < 200; length++) {
      const header = new Uint8Array(length).fill(7);
      const frame = frameHeader(header);
      expect(frame.length % 64).toBe(0);
      expect(unframeHeader(frame, 200)).toEqual({ header, bodyStart: frame.length });
    }
  });

  it('is refused when its header is too long, cut, or its padding is not zero', () => {
    const frame = frameHeader(new Uint8Array(10));
    expect(() => unframeHeader(frame, 9)).toThrow(DecodeError);
    expect(unframeHeader(frame, 10).header).toHaveLength(10);
    expect(() => unframeHeader(frame.subarray(0, 20), 10)).toThrow(DecodeError);
    frame[63] = 1;
    expect(() => unframeHeader(frame, 10)).toThrow(DecodeError);
  });
});

describe('the vector of an upload', () => {
  const header = { slot: 2 as never, voids: [] };
  const sealing = { sealedBytes: 240 };

  it('is read without a copy if it is aligned, as it is after its frame', () => {
    const shape = { dimension: 3, metrics: [], modulus: RING_32, versions: 'unsafeMixed' } as const;
    const layout = uploadLayout(shape, header, sealing);
    const frame = frameHeader(new Uint8Array(300));
    const upload = new Uint8Array(frame.length + layout.bodyBytes);
    upload.set(packVector(Uint32Array.of(1, 0, 0, 0, 9, 10, 7, 8, 0xffff_ffff), RING_32), frame.length);
    const vector = viewVector(upload.subarray(frame.length), shape, layout);
    expect(vector).toEqual(Uint32Array.of(1, 0, 0, 0, 9, 10, 7, 8, 0xffff_ffff));
    expect(vector?.buffer).toBe(upload.buffer);
    const { self, backups } = readSealedParts(upload.subarray(frame.length), layout);
    expect([self, ...backups].map(({ length }) => length)).toEqual([240, 240, 240]);
  });

  it('is copied if it is packed tighter, unaligned or cut', () => {
    const layout = uploadLayout(
      { metrics: [], dimension: 3, modulus: RING_32, versions: 'unsafeMixed' },
      header,
      sealing,
    );
    expect(viewVector(new Uint8Array(512), { modulus: ring(20) }, layout)).toBeUndefined();
    expect(viewVector(new Uint8Array(513).subarray(1), { modulus: RING_32 }, layout)).toBeUndefined();
    expect(viewVector(new Uint8Array(4 * 9 - 1), { modulus: RING_32 }, layout)).toBeUndefined();
    expect(viewVector(new Uint8Array(4 * 9), { modulus: RING_32 }, layout)).toHaveLength(9);
  });
});
