/** Encrypt and Decrypt of BSW07 (4.2), with the sharing of a secret down an access tree. */
import type { RandomBytes, Suite } from '@basa/masking';
import { type Ciphertext, type Encapsulation, kemKey, type LeafPart, openOnce, sealOnce } from './ciphertext.ts';
import { encodeEncapsulation } from './codec.ts';
import { type G1, type Group, type PairingInput, randomScalar, type Scalar } from './group.ts';
import type { AttributeKey, KeyComponent, PublicKey } from './keys.ts';
import { attributeId, checkPolicy, leavesOf, type Policy } from './policy.ts';

/**
 * Returns q_y(0) for every leaf y, from left to right; q_root(0) is the secret. Every scalar made on the way is put
 * into `used`, for the caller to wipe; below an OR a share is the secret of the node itself.
 */
function shareSecret(
  policy: Policy,
  secret: Scalar,
  tools: { readonly group: Group; readonly randomBytes: RandomBytes },
  used: Scalar[],
): readonly Scalar[] {
  if (policy.kind === 'attribute') return [secret];
  if (policy.k === 1) return policy.children.flatMap((child) => shareSecret(child, secret, tools, used));
  // q_x has degree k - 1, and child number i gets q_x(i) as its q(0).
  const { group, randomBytes } = tools;
  const random = Array.from({ length: policy.k - 1 }, () => randomScalar(group, randomBytes));
  used.push(...random);
  return policy.children.flatMap((child, i) => {
    const share = evaluate(group, [secret, ...random], i + 1);
    used.push(share);
    return shareSecret(child, share, tools, used);
  });
}

/** The polynomial at x, by Horner's rule. */
function evaluate(group: Group, coefficients: readonly Scalar[], x: number): Scalar {
  const { scalars } = group;
  const at = scalars.fromInteger(x);
  return coefficients.reduceRight((value, coefficient) => scalars.add(scalars.multiply(value, at), coefficient));
}

/** One leaf of a satisfying set. */
interface LeafUse {
  /** Number of the leaf, from left to right, from 0. */
  readonly leaf: number;
  readonly attribute: Uint8Array;
  /** Product of the Lagrange coefficients on the path from the root. Undefined means 1. */
  readonly coefficient: Scalar | undefined;
}

/** Returns the smallest set of leaves with which these attributes satisfy the policy; undefined if there is no such set. */
function recombination(
  policy: Policy,
  attributes: readonly Uint8Array[],
  group: Group,
): readonly LeafUse[] | undefined {
  const held = new Set(attributes.map(attributeId));
  let leaf = 0;
  const visit = (node: Policy): readonly LeafUse[] | undefined => {
    if (node.kind === 'attribute') {
      const use = { leaf: leaf++, attribute: node.attribute, coefficient: undefined };
      return held.has(attributeId(node.attribute)) ? [use] : undefined;
    }
    const satisfied = node.children.flatMap((child, i) => {
      const uses = visit(child);
      return uses === undefined ? [] : [{ index: i + 1, uses }];
    });
    if (satisfied.length < node.k) return undefined;
    const chosen = satisfied.sort((a, b) => a.uses.length - b.uses.length).slice(0, node.k);
    const indices = chosen.map(({ index }) => index);
    return chosen.flatMap(({ index, uses }) => scale(group, uses, lagrange(group, index, indices)));
  };
  return visit(policy);
}

/** Delta_{i,S}(0), the product of j / (j - i) over all other j in S. Undefined means 1. */
function lagrange(group: Group, i: number, indices: readonly number[]): Scalar | undefined {
  const { scalars } = group;
  const others = indices.filter((j) => j !== i);
  if (others.length === 0) return undefined;
  const product = (factors: readonly Scalar[]): Scalar => factors.reduce((a, b) => scalars.multiply(a, b));
  const numerator = product(others.map((j) => scalars.fromInteger(j)));
  const denominator = product(others.map((j) => scalars.subtract(scalars.fromInteger(j), scalars.fromInteger(i))));
  return scalars.multiply(numerator, scalars.invert(denominator));
}

function scale(group: Group, uses: readonly LeafUse[], by: Scalar | undefined): readonly LeafUse[] {
  if (by === undefined) return uses;
  return uses.map((use) => ({
    ...use,
    coefficient: use.coefficient === undefined ? by : group.scalars.multiply(use.coefficient, by),
  }));
}

export interface EncryptTools {
  readonly group: Group;
  readonly suite: Suite;
  readonly randomBytes: RandomBytes;
}

export interface EncapsulateRequest {
  readonly publicKey: PublicKey;
  readonly policy: Policy;
  /** Authenticated but not sent: the ciphertext opens only under the same context. */
  readonly context: Uint8Array;
}

const TREE_LABEL = 'tree';

export function encrypt(
  request: EncapsulateRequest & { readonly plaintext: Uint8Array },
  tools: EncryptTools,
): Ciphertext {
  const { encapsulation, key } = encapsulate(request, tools);
  return { encapsulation, sealed: sealOnce(key, request.plaintext, tools.suite) };
}

/** Runs only the KEM: 32 bytes that every holder of satisfying attributes can compute from the encapsulation. */
export function encapsulate(
  { publicKey, policy, context }: EncapsulateRequest,
  tools: EncryptTools,
): { readonly encapsulation: Encapsulation; readonly key: Uint8Array } {
  checkPolicy(policy);
  const { group, suite } = tools;
  const { g1, g2, gt } = group;
  const s = randomScalar(group, tools.randomBytes);
  const used = [s];
  const shares = shareSecret(policy, s, tools, used);
  const leaves = leavesOf(policy).map(({ attribute }, y) => {
    const share = shares[y] ?? s;
    return {
      cy: g2.multiply(g2.generator, share), // C_y = g2^q_y(0)
      cyPrime: g1.multiply(group.hashToG1(attribute), share), // C'_y = H(att(y))^q_y(0)
    };
  });
  const c = g1.multiply(publicKey.h, s); // C = h^s
  const secret = gt.encode(gt.power(publicKey.a, s)); // A^s
  for (const scalar of used) group.scalars.wipe(scalar);
  const encapsulation = { policy, c, leaves };
  const header = encodeEncapsulation(encapsulation, group);
  const key = kemKey({ label: TREE_LABEL, secret, header, context }, suite);
  return { encapsulation, key };
}

// Decrypt of BSW07 (4.2): every pairing in one product, with the Lagrange coefficients on the cheap side.

export interface DecryptTools {
  readonly group: Group;
  readonly suite: Suite;
}

/** `not-authentic`: the key belongs to another authority, or the ciphertext or the context was changed after sealing. */
export type Decrypted =
  | { readonly kind: 'opened'; readonly plaintext: Uint8Array }
  | { readonly kind: 'refused'; readonly reason: 'policy-not-satisfied' | 'not-authentic' };

export function decrypt(
  request: { readonly ciphertext: Ciphertext; readonly key: AttributeKey; readonly context: Uint8Array },
  tools: DecryptTools,
): Decrypted {
  const { encapsulation, sealed } = request.ciphertext;
  const key = decapsulate({ ...request, encapsulation }, tools);
  if (key === undefined) return { kind: 'refused', reason: 'policy-not-satisfied' };
  const plaintext = openOnce(key, sealed, tools.suite);
  return plaintext === undefined ? { kind: 'refused', reason: 'not-authentic' } : { kind: 'opened', plaintext };
}

/**
 * Returns the 32 bytes of `encapsulate`, or undefined if the attributes do not satisfy the policy. Nothing is
 * authenticated yet: a changed encapsulation or context gives other bytes.
 */
export function decapsulate(
  request: { readonly encapsulation: Encapsulation; readonly key: AttributeKey; readonly context: Uint8Array },
  { group, suite }: DecryptTools,
): Uint8Array | undefined {
  const { encapsulation, key, context } = request;
  const pairs = pairsFor(encapsulation, key, group);
  if (pairs === undefined) return undefined;
  // e(C, D) = e(g1, g2)^(s (alpha + r)); the leaves take e(g1, g2)^(r s) away: A^s remains.
  const shared = group.pairingProduct([{ g1: encapsulation.c, g2: key.d }, ...pairs]);
  const header = encodeEncapsulation(encapsulation, group);
  return kemKey({ label: TREE_LABEL, secret: group.gt.encode(shared), header, context }, suite);
}

/** e(C'_y, D'_j) / e(D_j, C_y) = e(g1, g2)^(-r q_y(0)), to the power of y's coefficient, for the leaves in use. */
function pairsFor(encapsulation: Encapsulation, key: AttributeKey, group: Group): readonly PairingInput[] | undefined {
  const { g1 } = group;
  const held = new Map(key.components.map((component) => [attributeId(component.attribute), component]));
  const attributes = key.components.map(({ attribute }) => attribute);
  const uses = recombination(encapsulation.policy, attributes, group);
  return uses?.flatMap(({ leaf, attribute, coefficient }) => {
    const { dj, djPrime } = held.get(attributeId(attribute)) as KeyComponent; // only held attributes are in use
    const { cy, cyPrime } = encapsulation.leaves[leaf] as LeafPart;
    const power = (point: G1): G1 => (coefficient === undefined ? point : g1.multiply(point, coefficient));
    return [
      { g1: power(cyPrime), g2: djPrime },
      { g1: g1.negate(power(dj)), g2: cy },
    ];
  });
}
