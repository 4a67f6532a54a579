/** Access trees (BSW07, 4.1): leaves are attributes, inner nodes are satisfied by k of their children. */
import { ascii } from '@basa/masking';

/** Throws a URIError at half a surrogate pair, which has no encoding. */
export function utf8Bytes(text: string): Uint8Array {
  const escaped = encodeURIComponent(text);
  const bytes: number[] = [];
  for (let at = 0; at < escaped.length; at++) {
    if (escaped[at] === '%') {
      bytes.push(Number.parseInt(escaped.slice(at + 1, at + 3), 16));
      at += 2;
    } else bytes.push(...ascii(escaped.slice(at, at + 1)));
  }
  return Uint8Array.from(bytes);
}

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

const WORD = /^[A-Za-z0-9_.:-]+$/;
const KEYWORD = /^(and|or|of)$/i;

export function formatPolicy(policy: Policy): string {
  if (policy.kind === 'attribute') return formatAttribute(policy.attribute);
  const { k, children } = policy;
  if (!isJoined(policy)) return `${k} of (${children.map(formatPolicy).join(', ')})`;
  return children.map(formatPart).join(k === 1 ? ' or ' : ' and ');
}

/** True if a node is written with "and" or "or". */
function isJoined(policy: Policy): boolean {
  if (policy.kind === 'attribute') return false;
  const { k, children } = policy;
  return children.length > 1 && (k === 1 || k === children.length);
}

/** Writes a child of "and" or "or". Parentheses keep a joined child as a separate node. */
function formatPart(policy: Policy): string {
  return isJoined(policy) ? `(${formatPolicy(policy)})` : formatPolicy(policy);
}

function formatAttribute(bytes: Uint8Array): string {
  const text = String.fromCharCode(...bytes);
  if (WORD.test(text) && !KEYWORD.test(text)) return text;
  return `"${Array.from(bytes, formatByte).join('')}"`;
}

function formatByte(byte: number): string {
  if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`;
  const isPrintable = byte >= 0x20 && byte < 0x7f;
  return isPrintable ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`;
}
