/** Operations on elements of the mcl backend, made of calls. */
import { equalBytes } from '@basa/masking';
import type { Element, Kind } from '../group.ts';
import { call } from './calls.ts';
import { makeElement, wordsOf } from './elements.ts';
import { type MclModule, SIZE } from './module.ts';

export function unary<K extends Kind>(
  mcl: MclModule,
  kind: K,
  operation: (result: number, operand: number) => void,
  operand: Element<K>,
): Element<K> {
  const { words } = call(mcl, SIZE[kind], [wordsOf(operand)], (result, at = 0) => {
    operation(result, at);
    return 0;
  });
  return makeElement(kind, words);
}

export function binary<K extends Kind>(
  mcl: MclModule,
  kind: K,
  operation: (result: number, left: number, right: number) => void,
  left: Element<K>,
  right: Element<Kind>,
): Element<K> {
  const { words } = call(mcl, SIZE[kind], [wordsOf(left), wordsOf(right)], (result, leftAt = 0, rightAt = 0) => {
    operation(result, leftAt, rightAt);
    return 0;
  });
  return makeElement(kind, words);
}

export function test(mcl: MclModule, predicate: (operand: number) => number, operand: Element<Kind>): boolean {
  return call(mcl, 0, [wordsOf(operand)], (_, at = 0) => predicate(at)).returned === 1;
}

export function serialize(
  mcl: MclModule,
  write: (bytes: number, most: number, operand: number) => number,
  element: Element<Kind>,
  length: number,
): Uint8Array {
  const { words, returned } = call(mcl, length, [wordsOf(element)], (result, at = 0) => write(result, length, at));
  if (returned !== length) throw new Error(`mcl wrote ${returned} bytes of a ${element.kind}, not ${length}`);
  return new Uint8Array(words.buffer, 0, length);
}

/** Returns the element, or undefined if mcl does not read all bytes or would encode the element differently. */
export function deserialize<K extends Kind>(
  kind: K,
  bytes: Uint8Array,
  library: {
    readonly mcl: MclModule;
    readonly read: (result: number, bytes: number, length: number) => number;
    readonly write: (bytes: number, most: number, operand: number) => number;
  },
): Element<K> | undefined {
  const { mcl, read, write } = library;
  const { words, returned } = call(mcl, SIZE[kind], [bytes], (result, at = 0) => read(result, at, bytes.length));
  if (returned !== bytes.length) return undefined;
  const element = makeElement(kind, words);
  return equalBytes(serialize(mcl, write, element, bytes.length), bytes) ? element : undefined;
}
