/**
 * What `node/suite.ts` and `web/suite.ts` both provide. The pure packages declare the same shape as their port
 * (`Suite` of @basa/masking); test/ports.test.ts holds the two together.
 */
export interface Suite {
  sha256(...parts: readonly Uint8Array[]): Uint8Array;
  hkdf(input: { secret: Uint8Array; salt: Uint8Array; info: Uint8Array; length: number }): Uint8Array;
  seal(input: AeadInput & { plaintext: Uint8Array }): Uint8Array;
  open(input: AeadInput & { ciphertext: Uint8Array }): Uint8Array | undefined;
  verify(input: { signature: Uint8Array; message: Uint8Array; publicKey: Uint8Array }): boolean;
  x25519(secretKey: Uint8Array): X25519Key;
}

export interface X25519Key {
  readonly publicKey: Uint8Array;
  agree(publicKey: Uint8Array): Uint8Array | undefined;
}

interface AeadInput {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
  readonly associatedData: Uint8Array;
}

/** Bytes that ChaCha20-Poly1305 appends. */
export const TAG_BYTES = 16;
