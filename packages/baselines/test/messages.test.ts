/** Hostile bytes at every decoder of the baselines: a DecodeError, or a message that encodes back to the same bytes. */
import { DecodeError, FIELD_PRIME, Secret } from '@basa/masking';
import { fuzzDecoder } from '@basa/testkit/fuzz/decoders.ts';
import { describe, expect, it } from 'vitest';
import * as light from '../src/lightsecagg/messages.ts';
import * as secagg from '../src/secagg/messages.ts';
import { seededBytes } from './support.ts';

const RUNS = 30_000;
const randomBytes = seededBytes(3);
const users = [0, 1, 258];
const PIECE = 6;

/** A vector that is not canonical is refused by its caller, as undefined: here, a decode error. */
function decodePiece(bytes: Uint8Array): Uint32Array {
  const vector = light.decodeVector(bytes, PIECE);
  if (vector === undefined) throw new DecodeError('vector', 'not canonical');
  return vector;
}

function sampleOf<T extends object>(encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T, value: T) {
  // The codec is called with what it made itself.
  const codec = { encode: encode as (value: object) => Uint8Array, decode };
  return { codec, bytes: encode(value) };
}

const SAMPLES = {
  'SecAgg keys': sampleOf(
    secagg.encodeKeys,
    secagg.decodeKeys,
    users.map((user) => ({ user, channelKey: randomBytes(32), maskKey: randomBytes(32) })),
  ),
  'SecAgg shares': sampleOf(
    secagg.encodeShares,
    secagg.decodeShares,
    users.map((peer) => ({ peer, sealed: randomBytes(80) })),
  ),
  'SecAgg survivors': sampleOf(secagg.encodeUsers, secagg.decodeUsers, users),
  'SecAgg answer': sampleOf(
    secagg.encodeAnswer,
    secagg.decodeAnswer,
    users.map((about) => ({
      about,
      of: about === 1 ? ('mask-key' as const) : ('self-seed' as const),
      share: new Secret(randomBytes(32)),
    })),
  ),
  'LightSecAgg keys': sampleOf(
    light.encodeChannelKeys,
    light.decodeChannelKeys,
    users.map((user) => ({ user, channelKey: randomBytes(32) })),
  ),
  'LightSecAgg shares': sampleOf(
    light.encodeSealedShares,
    (bytes) => light.decodeSealedShares(bytes, PIECE),
    users.map((peer) => ({ peer, sealed: randomBytes(4 * PIECE + 16) })),
  ),
  'LightSecAgg entries': sampleOf(
    light.encodeEntries,
    light.decodeEntries,
    users.map((user) => ({ user, stamp: 2 ** 40 + user, weight: 1 + user })),
  ),
  'LightSecAgg vector': sampleOf(light.encodeVector, decodePiece, new Uint32Array(PIECE).fill(FIELD_PRIME - 1)),
};

describe('a decoder', () => {
  it.each(Object.entries(SAMPLES))('of %s keeps its promise under mutated bytes', (name, { codec, bytes }) => {
    expect(codec.encode(codec.decode(bytes))).toEqual(bytes);
    const { decoded } = fuzzDecoder({ name, codec, bytes }, RUNS, 1);
    expect(decoded).toBeGreaterThan(0);
    expect(decoded).toBeLessThan(RUNS);
  });

  it('reads no more entries than there are users', () => {
    expect(() => secagg.decodeKeys(new Uint8Array(66 * 65_537))).toThrow('too long');
    expect(() => secagg.decodeUsers(new Uint8Array(8193).fill(1))).toThrow('too long');
    expect(() => light.decodeEntries(new Uint8Array(14 * 65_537))).toThrow('too long');
  });
});
