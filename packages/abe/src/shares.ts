/** Sharing a secret down an access tree, and the Lagrange coefficients that bring it back (BSW07, 4.2). */
import type { RandomBytes } from '@basa/masking';
import type { Group, Scalar } from './group.ts';
import { attributeId, type Policy } from './policy.ts';
import { randomScalar } from './random-scalar.ts';

/**
 * Returns q_y(0) for every leaf y, from left to right; q_root(0) is the secret. Every scalar made on the way is put
 * into `used`, for the caller to wipe; below an OR a share is the secret of the node itself.
 */
export function shareSecret(
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
export interface LeafUse {
  /** Number of the leaf, from left to right, from 0. */
  readonly leaf: number;
  readonly attribute: Uint8Array;
  /** Product of the Lagrange coefficients on the path from the root. Undefined means 1. */
  readonly coefficient: Scalar | undefined;
}

/** Returns the smallest set of leaves with which these attributes satisfy the policy; undefined if there is no such set. */
export function recombination(
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
