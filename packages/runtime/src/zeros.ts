/** A keystream is the encryption of zeros: one array of them serves every request. */
export class Zeros {
  #zeros = new Uint8Array(65_536);

  take(bytes: number): Uint8Array<ArrayBuffer> {
    if (bytes > this.#zeros.length) this.#zeros = new Uint8Array(bytes);
    return this.#zeros.subarray(0, bytes);
  }
}
