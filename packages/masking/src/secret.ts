/** Bytes that do not print: holds a seed or a key until it is wiped. */

const HIDDEN = '[secret]';

/**
 * The bytes sit in a private field, so that `console.log`, `JSON.stringify`, template strings and structured
 * clones show nothing. Wiping is best effort: a JavaScript engine may have copied the bytes before.
 */
export class Secret {
  #bytes: Uint8Array;
  #wiped = false;

  /** Takes ownership of the bytes; the caller must not keep or change them. */
  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get length(): number {
    return this.#bytes.length;
  }

  /** The bytes themselves, not a copy. */
  reveal(): Uint8Array {
    if (this.#wiped) throw new Error('this secret has been wiped');
    return this.#bytes;
  }

  /** Overwrites the bytes; `reveal` throws from now on. */
  wipe(): void {
    this.#bytes.fill(0);
    this.#wiped = true;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return HIDDEN;
  }
}
