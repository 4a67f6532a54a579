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

  async check(name: unknown, isRight: () => boolean | Promise<boolean>): Promise<void> {
    this.#cases++;
    let isGood = false;
    try {
      isGood = await isRight();
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

/** One published case: texts in hex, numbers and words. */
export type Case = Readonly<Record<string, unknown>>;

/** The bytes of these values of a case. */
export function hexIn<Names extends readonly string[]>(
  one: Case,
  ...names: Names
): { [Each in keyof Names]: Uint8Array } {
  return names.map((name) => bytesOf(String(one[name] ?? ''))) as { [Each in keyof Names]: Uint8Array };
}

export function bytesOf(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
}

export function isHex(bytes: Uint8Array | undefined, hex: unknown): boolean {
  return (
    bytes !== undefined &&
    Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') === String(hex).toLowerCase()
  );
}
