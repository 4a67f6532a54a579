/** One suite of published cases: the files it reads, and how one platform is held to them. */
import type { Group } from '@basa/abe';
import type { KeystreamRequest, Suite } from '@basa/masking';

/** The primitives of one runtime. */
export interface Platform {
  readonly suite: Suite;
  readonly keystream: (request: KeystreamRequest) => Uint8Array | Promise<Uint8Array>;
  /** X25519 as devices of this platform use it: undefined for a key of small order. */
  agree(secretKey: Uint8Array, publicKey: Uint8Array): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  readonly group: Group;
  /** Of the thousands of curve points one in this many is checked: a library in JavaScript takes 15 ms for a pairing. */
  readonly everyNthPoint: number;
}

export interface Counted {
  readonly cases: number;
  /** The names of the cases whose result differs. */
  readonly failed: readonly string[];
  /** Cases of functions that BASA does not have. */
  readonly skipped: number;
}

/** The text of each file of the suite, by its name in the folder. */
export type Files = Readonly<Record<string, string>>;

export interface OutsideSuite {
  readonly files: readonly string[];
  run(texts: readonly string[], platform: Platform): Counted | Promise<Counted>;
}

/** Counts cases; a check that throws has failed. */
export class Tally {
  #cases = 0;
  readonly #failed: string[] = [];
  #skipped = 0;

  skip(count = 1): void {
    this.#skipped += count;
  }

  check(name: string | number, isRight: () => boolean): void {
    this.#cases++;
    let isGood = false;
    try {
      isGood = isRight();
    } catch {
      // A case that ends in an error has failed.
    }
    if (!isGood) this.#failed.push(String(name));
  }

  get counted(): Counted {
    return { cases: this.#cases, failed: this.#failed, skipped: this.#skipped };
  }
}

/** The result, or undefined if the bytes are refused with an error. */
export function unlessRefused<Result>(run: () => Result | undefined): Result | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function isHex(bytes: Uint8Array | undefined, hex: string): boolean {
  return (
    bytes !== undefined &&
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') === hex.toLowerCase()
  );
}
