/** Writes a policy as the text that parses to the same tree. */
import type { Policy } from './policy.ts';

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
