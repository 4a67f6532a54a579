import { ByteReader, DecodeError, FIELD, ring } from '@basa/masking';
import { DeviceRecord } from '@basa/protocol/internal/one-shot/ledger.ts';
import { frameHeader, unframeHeader } from '@basa/protocol/wire';
import { sampleMessages } from '@basa/testkit/core/sample-messages.ts';
import { fuzzDecoder } from '@basa/testkit/fuzz/decoders.ts';
import { describe, expect, it } from 'vitest';
import { KIND, modulusField } from '../../src/wire/fields.ts';

const samples = sampleMessages();
/** Messages of others; those that a party reads from its own disk are tested less often. */
const runsOf = (kind: number): number => (kind < KIND.sessionAcknowledged ? 4_000 : 2_000);

describe('every message', () => {
  it('is among the samples', () => {
    const sampled = new Set(samples.map(({ bytes }) => bytes[2]));
    const hashedOnly = new Set<number>([
      KIND.attribute,
      KIND.sealingContext,
      KIND.requestStatement,
      KIND.pieceStatement,
      KIND.partContext,
      KIND.partHashes,
      KIND.givenVersion,
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

it('the record of a device is named if it is cut before its kind', () => {
  expect(() => DeviceRecord.decode(new Uint8Array(2))).toThrow('no byte names no record');
});
