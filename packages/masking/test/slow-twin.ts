/** The PRG and the masking formula again, slow and obvious: BigInt, one AES block at a time, no helper of the source. */
import { createCipheriv, createHmac } from 'node:crypto';

export function slowMask(seed: Uint8Array, salt: Uint8Array, q: bigint, length: number): bigint[] {
  return Array.from({ length }, (_, k) => slowElement(seed, salt, q, k));
}

/**
 * Element k of round 0, in as few bytes as q needs, its low bits for a ring; or of the first later round in which it is
 * below q.
 */
export function slowElement(seed: Uint8Array, salt: Uint8Array, q: bigint, k: number): bigint {
  const isPowerOfTwo = (q & (q - 1n)) === 0n;
  for (let round = 0; ; round++) {
    const width = Math.ceil((q - 1n).toString(2).length / 8);
    const word = slowWord(seed, salt, round, k, width);
    if (isPowerOfTwo) return word % q;
    if (word < q) return word;
  }
}

function slowWord(seed: Uint8Array, salt: Uint8Array, round: number, k: number, width: number): bigint {
  const info = round === 0 ? Buffer.from('mask') : Buffer.concat([Buffer.from('mask-reject'), Buffer.from([round])]);
  const okm = hkdf(seed, salt, info);
  const byteAt = (place: number): bigint => {
    const first = BigInt(`0x${okm.subarray(16, 32).toString('hex')}`);
    const counter = (first + BigInt(Math.floor(place / 16))) % 2n ** 128n;
    const aes = createCipheriv('aes-128-ecb', okm.subarray(0, 16), null);
    return BigInt(aes.update(Buffer.from(counter.toString(16).padStart(32, '0'), 'hex'))[place % 16] as number);
  };
  const bytes = Array.from({ length: width }, (_, n) => byteAt(width * k + n));
  return bytes.reduceRight((word, byte) => 256n * word + byte, 0n);
}

/** RFC 5869 for 32 bytes of output: one block of expand. */
function hkdf(secret: Uint8Array, salt: Uint8Array, info: Uint8Array): Buffer {
  const key = createHmac('sha256', salt).update(secret).digest();
  return createHmac('sha256', key)
    .update(info)
    .update(Buffer.from([1]))
    .digest();
}
