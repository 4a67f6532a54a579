// Engine 1, CP-ABE (docs/conformance.md, "CP-ABE"): BSW07 on BLS12-381, each seed sealed to one attribute.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bytes, fields, hkdf, must, readAll, sha256, short, u16, u32, zeros } from './bytes.mjs';

const {
  G1,
  G2,
  fields: { Fp12, Fr },
} = bls12_381;
const TAG = 'BASA-ABE-V1-ATTR-BLS12381G1_XMD:SHA-256_SSWU_RO_';

function point(group, encoded) {
  const one = group.Point.fromBytes(encoded);
  one.assertValidity();
  must(!one.is0() && one.isTorsionFree(), 'a point outside of its group, or infinity');
  return one;
}

export function readPublicKey(encoded) {
  const at = readAll(fields({ kind: bytes(2), h: bytes(48), f: bytes(96), A: bytes(576) }), encoded);
  must(at.kind.equals(Buffer.of(1, 1)), 'not a public key');
  const key = { h: point(G1, at.h), f: point(G2, at.f), A: Fp12.fromBytes(at.A) };
  must(
    Fp12.eql(bls12_381.pairing(key.h, key.f), bls12_381.pairing(G1.Point.BASE, G2.Point.BASE)),
    'a public key that does not fit',
  );
  must(!Fp12.eql(key.A, Fp12.ONE) && Fp12.eql(Fp12.pow(key.A, Fr.ORDER), Fp12.ONE), 'an element of another order');
  return key;
}

export function readKey(encoded, attribute) {
  const at = readAll(
    fields({ kind: bytes(2), count: u16, attribute: short(32), Dx: bytes(48), DxPrime: bytes(96), D: bytes(96) }),
    encoded,
  );
  must(
    at.kind.equals(Buffer.of(1, 3)) && at.count === 1 && at.attribute.equals(attribute),
    'the key of another attribute',
  );
  return { Dx: point(G1, at.Dx), DxPrime: point(G2, at.DxPrime), D: point(G2, at.D) };
}

const aeadKey = (shared, encoded, context) =>
  hkdf(
    Fp12.toBytes(shared),
    Buffer.from('basa-abe-v1'),
    Buffer.concat([Buffer.from('seed'), sha256(u32.write(encoded.length), encoded, context)]),
  );

export function seal(seed, publicKey, attribute, context) {
  const s = BigInt(`0x${randomBytes(64).toString('hex')}`) % Fr.ORDER;
  const hashed = G1.hashToCurve(attribute, { DST: TAG });
  const encoded = Buffer.concat([publicKey.h, G2.Point.BASE, hashed].map((one) => one.multiply(s).toBytes()));
  const cipher = createCipheriv('chacha20-poly1305', aeadKey(Fp12.pow(publicKey.A, s), encoded, context), zeros(12), {
    authTagLength: 16,
  });
  return Buffer.concat([encoded, cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
}

/** The seed, or undefined. */
export function open(sealed, key, context) {
  if (sealed.length !== 240) return undefined;
  const encoded = sealed.subarray(0, 192);
  try {
    const C = point(G1, encoded.subarray(0, 48));
    const Cy = point(G2, encoded.subarray(48, 144));
    const CyPrime = point(G1, encoded.subarray(144));
    const shared = bls12_381.pairingBatch([
      { g1: C, g2: key.D },
      { g1: CyPrime, g2: key.DxPrime },
      { g1: key.Dx.negate(), g2: Cy },
    ]);
    const decipher = createDecipheriv('chacha20-poly1305', aeadKey(shared, encoded, context), zeros(12), {
      authTagLength: 16,
    });
    decipher.setAuthTag(sealed.subarray(224));
    return Buffer.concat([decipher.update(sealed.subarray(192, 224)), decipher.final()]);
  } catch {
    return undefined;
  }
}
