/** The ports through which cryptography and randomness reach the pure packages. */

/** Fresh random bytes. Always an argument: nothing in the pure packages has a default for it. */
export type RandomBytes = (length: number) => Uint8Array;

/** The symmetric primitives and the signature check, all synchronous and the same in Node and in browsers. */
export interface Suite {
  /** SHA-256 over the concatenation of the parts. */
  sha256(...parts: readonly Uint8Array[]): Uint8Array;
  /** HKDF-SHA-256 (RFC 5869), extract and expand; `info` of at most 1024 bytes, the limit of OpenSSL. */
  hkdf(input: { secret: Uint8Array; salt: Uint8Array; info: Uint8Array; length: number }): Uint8Array;
  /** ChaCha20-Poly1305 (RFC 8439): ciphertext followed by the 16-byte tag. A key and nonce pair seals once. */
  seal(input: AeadInput & { plaintext: Uint8Array }): Uint8Array;
  /** Returns the plaintext, or undefined if the tag does not verify. */
  open(input: AeadInput & { ciphertext: Uint8Array }): Uint8Array | undefined;
  /**
   * Ed25519 (RFC 8032), strict: canonical encodings, no key of small order, S below the group order, and the
   * equation without the cofactor. Anything malformed is false, never an exception.
   */
  verify(input: { signature: Uint8Array; message: Uint8Array; publicKey: Uint8Array }): boolean;
  /** X25519 (RFC 7748) with these 32 secret bytes, which must stay as they are while the key is used. */
  x25519(secretKey: Uint8Array): X25519Key;
  /** Undefined unless it was loaded: only tasks that seal with it need it. */
  readonly kem: Kem | undefined;
}

/** ML-KEM-768 (FIPS 203) in its internal form, in which the randomness is an argument, and the hash that goes with it. */
export interface Kem {
  /** SHA3-256 (FIPS 202) over the concatenation of the parts. */
  sha3(...parts: readonly Uint8Array[]): Uint8Array;
  /** KeyGen_internal (algorithm 16) of d || z. */
  keyPair(seed: Uint8Array): { readonly publicKey: Uint8Array; readonly secretKey: Uint8Array };
  /** Encaps_internal (algorithm 17) with 32 bytes of randomness. The key must have passed `isKemKey`. */
  encapsulate(publicKey: Uint8Array, randomness: Uint8Array): Encapsulation;
  /** Decaps_internal (algorithm 18). It never fails: a ciphertext that is not of this key gives another secret. */
  decapsulate(secretKey: Uint8Array, ciphertext: Uint8Array): Uint8Array;
}

interface Encapsulation {
  readonly ciphertext: Uint8Array;
  readonly shared: Uint8Array;
}

/** A secret key in the form of the platform, so that it is read once for many agreements. */
interface X25519Key {
  readonly publicKey: Uint8Array;
  /** Returns the shared secret, or undefined if the peer's key is malformed or of small order. */
  agree(publicKey: Uint8Array): Uint8Array | undefined;
}

/** Signs with an Ed25519 key it keeps to itself. */
export interface Signer {
  readonly publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

interface AeadInput {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly associatedData: Uint8Array;
}
