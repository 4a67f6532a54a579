/** Elements of the mcl backend: the words of its internal form, kept out of sight. */
import type { Element, Kind } from '../group.ts';

/** The words sit in a private field, so that no element prints. */
class MclElement<K extends Kind> implements Element<K> {
  readonly kind: K;
  readonly #words: Uint32Array;

  constructor(kind: K, words: Uint32Array) {
    this.kind = kind;
    this.#words = words;
  }

  static words(element: Element<Kind>): Uint32Array {
    if (!(element instanceof MclElement)) throw new TypeError(`this ${element.kind} is not of the mcl backend`);
    return element.#words;
  }
}

export function makeElement<K extends Kind>(kind: K, words: Uint32Array): Element<K> {
  return new MclElement(kind, words);
}

/** The words themselves, not a copy. */
export function wordsOf(element: Element<Kind>): Uint32Array {
  return MclElement.words(element);
}
