/**
 * The equations of Bethencourt, Sahai, Waters, "Ciphertext-Policy Attribute-Based Encryption" (2007), section 4.2, a second time: slow, over the
 * points and fields of noble-curves only, without a line of the package's own code. Each side makes the same bytes from one recorded randomness,
 * and opens what the other made. The pairing is of type 3, so G0 of the paper is G1 or G2, as the package's README says.
 */
import { createCipheriv, createDecipheriv, createHash, hkdfSync } from 'node:crypto';
import {
  createMclGroup,
  decodeAttributeKey,
  decodeCiphertext,
  decrypt,
  encodeAttributeKey,
  encodeCiphertext,
  encodePublicKey,
  encrypt,
  freshKeyRandomness,
  type Group,
  keyGen,
  parsePolicy,
  setup,
} from '@basa/abe';
import { nodeSuite } from '@basa/runtime/node';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { beforeAll, describe, expect, it } from 'vitest';

const { Fr, Fp12 } = bls12_381.fields;
const [G1, G2] = [bls12_381.G1.Point, bls12_381.G2.Point];
type PointG1 = typeof G1.BASE;
type PointG2 = typeof G2.BASE;
type Target = typeof Fp12.ONE;

type Tree = string | { readonly k: number; readonly children: readonly Tree[] };
const gate = (k: number, ...children: readonly Tree[]): Tree => ({ k, children });

interface Case {
  readonly policy: string;
  readonly tree: Tree;
  readonly attributes: readonly string[];
}

const POLICIES: readonly Case[] = [
  { policy: 'a', tree: 'a', attributes: ['a'] },
  { policy: 'a and b', tree: gate(2, 'a', 'b'), attributes: ['a', 'b'] },
  { policy: 'a or b', tree: gate(1, 'a', 'b'), attributes: ['b'] },
  { policy: '2 of (a, b, c)', tree: gate(2, 'a', 'b', 'c'), attributes: ['a', 'c'] },
  { policy: '3 of (a, b, c, d, e)', tree: gate(3, 'a', 'b', 'c', 'd', 'e'), attributes: ['b', 'd', 'e'] },
  { policy: 'a and (b or c)', tree: gate(2, 'a', gate(1, 'b', 'c')), attributes: ['a', 'c'] },
  { policy: '(a and b) or (c and d)', tree: gate(1, gate(2, 'a', 'b'), gate(2, 'c', 'd')), attributes: ['c', 'd'] },
  {
    policy: '2 of (a and b, c, d or e)',
    tree: gate(2, gate(2, 'a', 'b'), 'c', gate(1, 'd', 'e')),
    attributes: ['a', 'b', 'e'],
  },
  {
    policy: 'a and 2 of (b, c, 2 of (d, e, f))',
    tree: gate(2, 'a', gate(2, 'b', 'c', gate(2, 'd', 'e', 'f'))),
    attributes: ['a', 'c', 'd', 'f'],
  },
  { policy: 'a and b and c and d', tree: gate(4, 'a', 'b', 'c', 'd'), attributes: ['a', 'b', 'c', 'd', 'z'] },
];

/** Randomness that repeats with its name, in the order in which it is drawn. */
function recorded(name: string): (length: number) => Uint8Array {
  let drawn = 0;
  return (length) => {
    const bytes = Buffer.alloc(length);
    for (let at = 0; at < length; at += 32) createHash('sha256').update(`${name} ${drawn++}`).digest().copy(bytes, at);
    return new Uint8Array(bytes);
  };
}

/** 64 bytes, big-endian, modulo the order. */
const scalar = (bytes: Uint8Array): bigint => Fr.create(BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
const H = (attribute: string): PointG1 =>
  bls12_381.G1.hashToCurve(Buffer.from(attribute), {
    DST: 'BASA-ABE-V1-ATTR-BLS12381G1_XMD:SHA-256_SSWU_RO_',
  }) as PointG1;

interface Master {
  readonly alpha: bigint;
  readonly beta: bigint;
}

/** Setup: PK = G0, g, h = g^beta, f = g^(1/beta), e(g, g)^alpha. MK = (beta, g^alpha). */
function setUp(random: (length: number) => Uint8Array): Master {
  return { alpha: scalar(random(64)), beta: scalar(random(64)) };
}

interface Key {
  readonly d: PointG2;
  readonly components: readonly { readonly attribute: string; readonly dj: PointG1; readonly djPrime: PointG2 }[];
}

/** KeyGen: D = g^((alpha + r) / beta), and for each j in S: D_j = g^r H(j)^r_j, D'_j = g^r_j. */
function makeKey({ alpha, beta }: Master, attributes: readonly string[], random: (length: number) => Uint8Array): Key {
  const r = scalar(random(64));
  const components = attributes.map((attribute) => {
    const rj = scalar(random(64));
    return { attribute, dj: G1.BASE.multiply(r).add(H(attribute).multiply(rj)), djPrime: G2.BASE.multiply(rj) };
  });
  return { d: G2.BASE.multiply(Fr.mul(Fr.add(alpha, r), Fr.inv(beta))), components };
}

interface Sealed {
  readonly c: PointG1;
  readonly leaves: readonly { readonly cy: PointG2; readonly cyPrime: PointG1 }[];
  /** e(g, g)^(alpha s), which hides the message. */
  readonly hidden: Target;
}

/** Encrypt: q_R(0) = s, q_x(0) = q_parent(x)(index(x)); C = h^s, C_y = g^q_y(0), C'_y = H(att(y))^q_y(0). */
function seal({ alpha, beta }: Master, tree: Tree, random: (length: number) => Uint8Array): Sealed {
  const s = scalar(random(64));
  const leaves: { cy: PointG2; cyPrime: PointG1 }[] = [];
  const share = (node: Tree, value: bigint): void => {
    if (typeof node === 'string') {
      leaves.push({ cy: G2.BASE.multiply(value), cyPrime: H(node).multiply(value) });
      return;
    }
    const { k, children } = node;
    const coefficients = [value, ...Array.from({ length: k - 1 }, () => scalar(random(64)))];
    for (const [n, child] of children.entries()) {
      const x = BigInt(n + 1);
      share(
        child,
        coefficients.reduce(
          (sum, coefficient, power) => Fr.add(sum, Fr.mul(coefficient, Fr.pow(x, BigInt(power)))),
          0n,
        ),
      );
    }
  };
  share(tree, s);
  const hidden = Fp12.pow(bls12_381.pairing(G1.BASE, G2.BASE), Fr.mul(alpha, s));
  return { c: G1.BASE.multiply(Fr.mul(beta, s)), leaves, hidden };
}

/** Decrypt: DecryptNode at the root gives A = e(g, g)^(r s); e(C, D) / A = e(g, g)^(alpha s). */
function open(tree: Tree, { c, leaves }: Omit<Sealed, 'hidden'>, key: Key): Target | undefined {
  let at = 0;
  const decryptNode = (node: Tree): Target | undefined => {
    if (typeof node === 'string') {
      const { cy, cyPrime } = leaves[at++] as Sealed['leaves'][number];
      const component = key.components.find(({ attribute }) => attribute === node);
      if (component === undefined) return undefined;
      // e(D_i, C_x) / e(D'_i, C'_x) = e(g, g)^(r q_x(0))
      return Fp12.div(bls12_381.pairing(component.dj, cy), bls12_381.pairing(cyPrime, component.djPrime));
    }
    const { k, children } = node;
    const found = children
      .map(decryptNode)
      .flatMap((value, n) => (value === undefined ? [] : [{ i: BigInt(n + 1), value }]));
    if (found.length < k) return undefined;
    const chosen = found.slice(0, k);
    return chosen.reduce((product, { i, value }) => {
      const lagrange = chosen.reduce(
        (l, { i: j }) => (j === i ? l : Fr.mul(l, Fr.mul(Fr.neg(j), Fr.inv(Fr.sub(i, j))))),
        1n,
      );
      return Fp12.mul(product, Fp12.pow(value, lagrange));
    }, Fp12.ONE);
  };
  const a = decryptNode(tree);
  return a === undefined ? undefined : Fp12.div(bls12_381.pairing(c, key.d), a);
}

/** The AEAD behind the KEM: HKDF-SHA-256 over the bytes of e(g, g)^(alpha s), ChaCha20-Poly1305 with a nonce of zeros. */
function aeadKey(hidden: Target, header: Uint8Array, context: Uint8Array): Uint8Array {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(header.length);
  const place = createHash('sha256').update(length).update(header).update(context).digest();
  const info = Buffer.concat([Buffer.from('tree'), place]);
  return new Uint8Array(hkdfSync('sha256', Fp12.toBytes(hidden), Buffer.from('basa-abe-v1'), info, 32));
}

const MESSAGE = Buffer.from('attack at dawn');
const CONTEXT = Buffer.from('where it belongs');
const AEAD = { authTagLength: 16 } as const;

describe('a second implementation from the paper', () => {
  let group: Group;
  let ours: ReturnType<typeof setup>;
  const master = setUp(recorded('setup'));

  beforeAll(async () => {
    group = await createMclGroup();
    ours = setup({ group, randomBytes: recorded('setup') });
  });

  it('has the same public key', () => {
    const bytes = Buffer.from(encodePublicKey(ours.publicKey, group));
    const h = G1.BASE.multiply(master.beta).toBytes(true);
    const a = Fp12.toBytes(Fp12.pow(bls12_381.pairing(G1.BASE, G2.BASE), master.alpha));
    expect(bytes.includes(Buffer.from(h))).toBe(true);
    expect(bytes.includes(Buffer.from(a))).toBe(true);
  });

  describe.each(POLICIES)('$policy', ({ policy, tree, attributes }) => {
    it('keys and ciphertexts have the same points, and each side opens what the other sealed', () => {
      const key = makeKey(master, attributes, recorded(`key ${policy}`));
      const sealed = seal(master, tree, recorded(`seal ${policy}`));
      const ownKey = keyGen(
        { masterKey: ours.masterKey, attributes, randomness: freshKeyRandomness(recorded(`key ${policy}`)) },
        { group },
      );
      const ciphertext = encrypt(
        { publicKey: ours.publicKey, policy: parsePolicy(policy), plaintext: MESSAGE, context: CONTEXT },
        { group, suite: nodeSuite, randomBytes: recorded(`seal ${policy}`) },
      );
      const ownBytes = Buffer.from(encodeAttributeKey(ownKey, group));
      for (const point of [key.d, ...key.components.flatMap(({ dj, djPrime }) => [dj, djPrime])])
        expect(ownBytes.includes(Buffer.from(point.toBytes(true)))).toBe(true);
      const points = Buffer.concat(
        [sealed.c, ...sealed.leaves.flatMap(({ cy, cyPrime }) => [cy, cyPrime])].map((point) => point.toBytes(true)),
      );
      const bytes = Buffer.from(encodeCiphertext(ciphertext, group));
      const headerLength = bytes.indexOf(points) + points.length;
      expect(headerLength).toBeGreaterThan(points.length);
      const header = bytes.subarray(0, headerLength);

      // The package's ciphertext, with a key of this file.
      const hidden = open(tree, sealed, key);
      if (hidden === undefined) throw new Error('the attributes satisfy the policy');
      expect(Fp12.eql(hidden, sealed.hidden)).toBe(true);
      const own = bytes.subarray(headerLength + 4);
      const decipher = createDecipheriv('chacha20-poly1305', aeadKey(hidden, header, CONTEXT), Buffer.alloc(12), AEAD);
      decipher.setAuthTag(own.subarray(-16));
      expect(Buffer.concat([decipher.update(own.subarray(0, -16)), decipher.final()])).toEqual(MESSAGE);

      // This file's ciphertext, with the package's own functions and a key of this file.
      const other = Buffer.from('retreat at dusk');
      const cipher = createCipheriv(
        'chacha20-poly1305',
        aeadKey(sealed.hidden, header, CONTEXT),
        Buffer.alloc(12),
        AEAD,
      );
      const box = Buffer.concat([cipher.update(other), cipher.final(), cipher.getAuthTag()]);
      const size = Buffer.alloc(4);
      size.writeUInt32LE(box.length);
      const theirs = decodeCiphertext(new Uint8Array(Buffer.concat([header, size, box])), group);
      const given = decodeAttributeKey(new Uint8Array(ownBytes), group);
      const opened = decrypt({ ciphertext: theirs, key: given, context: CONTEXT }, { group, suite: nodeSuite });
      expect(opened).toEqual({ kind: 'opened', plaintext: new Uint8Array(other) });
    });
  });

  it('does not open without an attribute that it needs', () => {
    const key = makeKey(master, ['z', 'a', 'b'], recorded('stranger'));
    const [, , , , three] = POLICIES;
    const tree = three?.tree ?? '';
    expect(open(tree, seal(master, tree, recorded('seal')), key)).toBeUndefined();
  });
});
