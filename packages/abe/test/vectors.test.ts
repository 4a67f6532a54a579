/** conformance/vectors/abe.json is what both backends write, and its negatives are refused by both. */
import { readFileSync } from 'node:fs';
import {
  abeSealing,
  createMclGroup,
  decodeAttributeKey,
  decodeCiphertext,
  decodeMasterKey,
  decodePublicKey,
  decrypt,
  type Group,
} from '@basa/abe';
import { createNobleGroup } from '@basa/abe/noble';
import { DecodeError } from '@basa/masking';
import { type AbeVectors, abeVectors } from '@basa/testkit/vectors/abe.ts';
import { describe, expect, it } from 'vitest';
import { seededBytes, suite } from './tools.ts';

const vectors = JSON.parse(
  readFileSync(new URL('../../../conformance/vectors/abe.json', import.meta.url), 'utf8'),
) as AbeVectors;
const backends: readonly Group[] = [await createMclGroup(), createNobleGroup()];

describe.each(backends.map((group) => [group.name, group] as const))('with %s', (_, group) => {
  const publicKey = decodePublicKey(bytes(vectors.setup.publicKey), group);
  const tools = { group, suite, randomBytes: seededBytes('vectors') };

  it('the generated vectors equal the committed ones', async () => {
    expect(vectors).toMatchObject(await abeVectors(group));
  });

  it('each ciphertext opens to the keys that it names and to no other', () => {
    const keys = vectors.keys.map(({ key }) => decodeAttributeKey(bytes(key), group));
    for (const { ciphertext, context, plaintext, opens } of vectors.ciphertexts) {
      const decoded = decodeCiphertext(bytes(ciphertext), group);
      const opened = keys.map((key) => decrypt({ ciphertext: decoded, key, context: bytes(context) }, tools));
      expect(opened).toEqual(
        opens.map((isOpen) =>
          isOpen
            ? { kind: 'opened', plaintext: bytes(plaintext) }
            : { kind: 'refused', reason: 'policy-not-satisfied' },
        ),
      );
    }
  });

  it('each sealed seed opens to its key', () => {
    const sealing = abeSealing({ ...tools, publicKey });
    for (const { sealed, key, context, seed } of vectors.seeds) {
      expect(sealing.open(bytes(sealed), bytes(key), bytes(context))).toEqual(bytes(seed));
    }
  });

  it('each negative is refused, and the field that is wrong is named', () => {
    const decoders = {
      publicKey: decodePublicKey,
      masterKey: decodeMasterKey,
      attributeKey: decodeAttributeKey,
      ciphertext: decodeCiphertext,
    };
    const sealing = abeSealing({ ...tools, publicKey });
    const refusals = vectors.negatives.map((negative) => {
      const { what, key = '', context = '' } = negative;
      if (what === 'sealed') return sealing.open(bytes(negative.bytes), bytes(key), bytes(context)) ?? 'refused';
      return refusalOf(() => decoders[what](bytes(negative.bytes), group));
    });
    expect(refusals).toEqual(vectors.negatives.map(({ field }) => field ?? 'refused'));
  });
});

function refusalOf(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    return error instanceof DecodeError ? error.field : error;
  }
}

function bytes(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, 'hex'));
}
