/** Encodings are canonical, and hostile bytes give nothing but a `DecodeError`. */
import {
  decodeAttributeKey,
  decodeCiphertext,
  decodeEncapsulation,
  decodeMasterKey,
  decodePublicKey,
  encodeAttributeKey,
  encodeCiphertext,
  encodeEncapsulation,
  encodeMasterKey,
  encodePublicKey,
  encrypt,
  freshKeyRandomness,
  keyGen,
  parsePolicy,
  setup,
} from '@basa/abe';
import { ascii, ByteWriter, concatBytes, DecodeError } from '@basa/masking';
import { describe, expect, it } from 'vitest';
import { hostileBytes } from './hostile.ts';
import { mclTools } from './tools.ts';

const tools = await mclTools('codec');
const { group } = tools;
const { publicKey, masterKey } = setup(tools);
const randomness = freshKeyRandomness(tools.randomBytes);
const key = keyGen({ masterKey, attributes: ['b', 'a', 'ab'], randomness }, tools);
const policy = parsePolicy('a and (b or 2 of (c, d, "\\x00\\xff"))');
const ciphertext = encrypt({ publicKey, policy, plaintext: ascii('text'), context: ascii('context') }, tools);

interface Codec {
  readonly bytes: Uint8Array;
  readonly roundTrip: (bytes: Uint8Array) => Uint8Array;
}

const codecs: readonly [string, Codec][] = [
  [
    'public key',
    { bytes: encodePublicKey(publicKey, group), roundTrip: (b) => encodePublicKey(decodePublicKey(b, group), group) },
  ],
  [
    'master key',
    { bytes: encodeMasterKey(masterKey, group), roundTrip: (b) => encodeMasterKey(decodeMasterKey(b, group), group) },
  ],
  [
    'attribute key',
    {
      bytes: encodeAttributeKey(key, group),
      roundTrip: (b) => encodeAttributeKey(decodeAttributeKey(b, group), group),
    },
  ],
  [
    'ciphertext',
    {
      bytes: encodeCiphertext(ciphertext, group),
      roundTrip: (b) => encodeCiphertext(decodeCiphertext(b, group), group),
    },
  ],
  [
    'encapsulation',
    {
      bytes: encodeEncapsulation(ciphertext.encapsulation, group),
      roundTrip: (b) => encodeEncapsulation(decodeEncapsulation(b, group), group),
    },
  ],
];

describe.each(codecs)('%s', (_, { bytes, roundTrip }) => {
  it('decodes to the value that was encoded', () => {
    expect(roundTrip(bytes)).toEqual(bytes);
  });

  it('throws a DecodeError at every length but its own', () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => roundTrip(bytes.subarray(0, length))).toThrow(DecodeError);
    }
    expect(() => roundTrip(concatBytes(bytes, Uint8Array.of(0)))).toThrow(DecodeError);
  });

  it('throws a DecodeError or decodes canonically for 10,000 random or mutated byte strings', () => {
    let refused = 0;
    for (const hostile of hostileBytes(bytes, 10_000)) {
      try {
        // Whatever is taken must be canonical: no two byte strings for one value.
        const again = roundTrip(hostile);
        if (Buffer.compare(again, hostile) !== 0)
          throw new Error(`not canonical: ${Buffer.from(hostile).toString('hex')}`);
      } catch (error) {
        if (!(error instanceof DecodeError)) throw error;
        if (error.field === '') throw new Error('a DecodeError names no field');
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(9_000);
  });
});

describe('bounds', () => {
  const header = (kind: number): ByteWriter => new ByteWriter().u8(1).u8(kind);

  it('hold before anything is allocated', () => {
    const manyAttributes = header(3).u16(1025).finish();
    const longAttribute = header(3).u16(1).u16(256).bytes(new Uint8Array(600)).finish();
    expect(() => decodeAttributeKey(manyAttributes, group)).toThrow(/count/);
    expect(() => decodeAttributeKey(longAttribute, group)).toThrow(/attribute 0 length/);
  });

  it('hold for the tree of a ciphertext', () => {
    const leaf = Uint8Array.of(0, 1, 0, 97);
    const deep = header(4);
    for (let i = 0; i < 32; i++) deep.u8(1).u16(1).u16(1);
    expect(() => decodeCiphertext(deep.bytes(leaf).finish(), group)).toThrow(/policy: more than 32 levels/);
    const wide = header(4).u8(1).u16(1).u16(1025);
    for (let i = 0; i < 1025; i++) wide.bytes(leaf);
    expect(() => decodeCiphertext(wide.finish(), group)).toThrow(/policy: more than 1024 leaves/);
  });

  it('allow the largest tree', () => {
    const names = Array.from({ length: 1024 }, () => 'a').join(', ');
    const largest = encrypt(
      { publicKey, policy: parsePolicy(`1 of (${names})`), plaintext: new Uint8Array(1), context: new Uint8Array(0) },
      tools,
    );
    expect(encodeCiphertext(largest, group).length).toBeGreaterThan(1024 * 144);
  });

  it('refuse attributes of a key that are out of order or twice', () => {
    const [first, second] = key.components;
    if (first === undefined || second === undefined) throw new Error('two components are needed');
    for (const components of [
      [second, first],
      [first, first],
    ]) {
      const bytes = encodeAttributeKey({ ...key, components }, group);
      expect(() => decodeAttributeKey(bytes, group)).toThrow(/attribute 1: not in ascending order/);
    }
  });
});
