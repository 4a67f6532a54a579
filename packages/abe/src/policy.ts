/** Access trees (BSW07, 4.1): leaves are attributes, inner nodes are satisfied by k of their children. */
import { utf8Bytes } from './utf8.ts';

export interface AttributeLeaf {
  readonly kind: 'attribute';
  readonly attribute: Uint8Array;
}

export interface Threshold {
  readonly kind: 'threshold';
  /** The number of children that must be satisfied: 1 is OR, all of them is AND. */
  readonly k: number;
  readonly children: readonly Policy[];
}

export type Policy = AttributeLeaf | Threshold;

export const MAX_LEAVES = 1024;
export const MAX_LEVELS = 32;
export const MAX_ATTRIBUTE_BYTES = 255;

export function attribute(name: string | Uint8Array): AttributeLeaf {
  return { kind: 'attribute', attribute: attributeBytes(name) };
}

export function threshold(k: number, ...children: readonly Policy[]): Threshold {
  return { kind: 'threshold', k, children };
}

export function and(...children: readonly Policy[]): Threshold {
  return threshold(children.length, ...children);
}

export function or(...children: readonly Policy[]): Threshold {
  return threshold(1, ...children);
}

/** An attribute is a byte string. A name means its UTF-8 bytes. */
export function attributeBytes(name: string | Uint8Array): Uint8Array {
  const bytes = typeof name === 'string' ? utf8Bytes(name) : name;
  if (bytes.length === 0 || bytes.length > MAX_ATTRIBUTE_BYTES) {
    throw new RangeError(`an attribute has 1 to ${MAX_ATTRIBUTE_BYTES} bytes, got ${bytes.length}`);
  }
  return bytes;
}

/** A string that is equal for equal attributes, as the key of maps and sets. */
export function attributeId(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Returns the leaves from left to right, the order of everything that has one entry per leaf. */
export function leavesOf(policy: Policy): readonly AttributeLeaf[] {
  return policy.kind === 'attribute' ? [policy] : policy.children.flatMap(leavesOf);
}

/** Nodes on the longest path from the root to a leaf. */
export function levelsOf(policy: Policy): number {
  return policy.kind === 'attribute' ? 1 : 1 + Math.max(0, ...policy.children.map(levelsOf));
}

/** Throws a RangeError unless every k fits its children and the tree is within bounds. */
export function checkPolicy(policy: Policy): void {
  const levels = levelsOf(policy);
  if (levels > MAX_LEVELS) throw new RangeError(`a policy has at most ${MAX_LEVELS} levels, got ${levels}`);
  const leaves = leavesOf(policy).length;
  if (leaves > MAX_LEAVES) throw new RangeError(`a policy has at most ${MAX_LEAVES} leaves, got ${leaves}`);
  checkNode(policy);
}

function checkNode(policy: Policy): void {
  if (policy.kind === 'attribute') return void attributeBytes(policy.attribute);
  const { k, children } = policy;
  if (!Number.isInteger(k) || k < 1 || k > children.length) {
    throw new RangeError(`${k} of ${children.length} is not a valid threshold`);
  }
  children.forEach(checkNode);
}

/** True if a holder of these attributes may read (BSW07, 4.1, "satisfying an access tree"). */
export function satisfies(policy: Policy, attributes: readonly Uint8Array[]): boolean {
  const held = new Set(attributes.map(attributeId));
  const isSatisfied = (node: Policy): boolean =>
    node.kind === 'attribute'
      ? held.has(attributeId(node.attribute))
      : node.children.filter(isSatisfied).length >= node.k;
  return isSatisfied(policy);
}
