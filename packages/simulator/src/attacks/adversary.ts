/**
 * The server and its colluders as one adversary. It has all ciphertexts and uploads that were ever sent, all keys that colluders got or the
 * authority released, and all seeds that colluders drew or the server forged. It opens every ciphertext with every key, and subtracts every
 * known mask from every upload. It knows no honest input.
 */
import { applyMasksInPlace, type MaskTerm, type Modulus, Secret, toHex } from '@basa/masking';
import type { Environment } from '../federation/world.ts';

/** Identifies a seed by a name that the adversary can give it without knowing the seed. */
interface NamedTerm {
  readonly seed: string;
  readonly sign: 1 | -1;
}

/** y of a user, or the part of it that arrived, with the masks the protocol put on it. */
export interface SeenUpload {
  readonly vector: Uint32Array;
  readonly salt: Uint8Array;
  readonly modulus: Modulus;
  readonly terms: readonly NamedTerm[];
}

/** A sealed seed that was seen. */
export interface SeenCiphertext {
  /** The name of the seed. */
  readonly seed: string;
  readonly sealed: Uint8Array;
  /** Opens it in its intended context with any key; undefined if the key does not fit. */
  open(key: Uint8Array): Uint8Array | undefined;
}

export class Adversary {
  readonly #environment: Environment;
  readonly #ciphertexts = new Map<string, SeenCiphertext>();
  readonly #keys = new Map<string, Uint8Array>();
  readonly #seeds = new Map<string, Uint8Array>();
  readonly #uploads = new Map<string, SeenUpload>();
  readonly #ownInputs = new Map<string, Uint32Array>();

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  seeCiphertext(seen: SeenCiphertext): void {
    this.#ciphertexts.set(`${toHex(seen.sealed)} ${seen.seed}`, seen);
  }

  holdKey(key: Uint8Array): void {
    this.#keys.set(toHex(key), key);
  }

  knowSeed(seed: string, bytes: Uint8Array): void {
    this.#seeds.set(seed, bytes);
  }

  seeUpload(upload: SeenUpload): void {
    const { buffer, byteOffset, byteLength } = upload.vector;
    this.#uploads.set(toHex(new Uint8Array(buffer, byteOffset, byteLength)), upload);
  }

  knowInput(name: string, vector: Uint32Array): void {
    this.#ownInputs.set(name, vector);
  }

  /** Returns every upload without the masks it knows, and the colluders' own inputs. */
  vectors(): readonly Uint32Array[] {
    this.#openAll();
    return [...[...this.#uploads.values()].map((upload) => this.#cleaned(upload)), ...this.#ownInputs.values()];
  }

  /** Goes key by key, because a sealing caches the last decoded key. Seeds that mask no upload are ignored. */
  #openAll(): void {
    const wanted = new Set([...this.#uploads.values()].flatMap(({ terms }) => terms.map(({ seed }) => seed)));
    const ciphertexts = [...this.#ciphertexts.values()].filter(({ seed }) => wanted.has(seed));
    for (const key of this.#keys.values()) {
      for (const { seed, open } of ciphertexts) {
        if (this.#seeds.has(seed)) continue;
        const opened = open(key);
        if (opened !== undefined) this.#seeds.set(seed, opened);
      }
    }
  }

  #cleaned({ vector, salt, modulus, terms }: SeenUpload): Uint32Array {
    const known = terms.flatMap(({ seed, sign }): MaskTerm[] => {
      const bytes = this.#seeds.get(seed);
      return bytes === undefined ? [] : [{ seed: new Secret(bytes.slice()), sign: sign === 1 ? -1 : 1 }];
    });
    const clean = vector.slice();
    applyMasksInPlace(clean, { modulus, salt, terms: known }, this.#environment.tools);
    return clean;
  }
}
