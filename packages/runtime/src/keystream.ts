/** The shape of a request for AES-128-CTR keystream, as @basa/masking makes it. */
export interface KeystreamRequest {
  readonly stream: { readonly key: Uint8Array };
  /** Where in the stream the piece starts, and the counter block there. */
  readonly firstByte: number;
  readonly counter: Uint8Array;
  readonly bytes: number;
}

/** A keystream is the encryption of zeros: one array of them serves every request. */
export class Zeros {
  #zeros = new Uint8Array(65_536);

  take(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes > this.#zeros.length) this.#zeros = new Uint8Array(bytes);
    return this.#zeros.subarray(0, bytes);
  }
}
