/** CRC-32 (ISO 3309, as in zlib and PNG) against broken disks and proxies: slicing by 8, for runtimes without one of their own. */

const POLYNOMIAL = 0xedb88320;
const SLICES = 8;

/** Table k has the effect of a byte that is followed by k zero bytes. */
const TABLES: readonly Uint32Array[] = tables();

function tables(): readonly Uint32Array[] {
  const all = Array.from({ length: SLICES }, () => new Uint32Array(256));
  const [first] = all as [Uint32Array];
  for (let byte = 0; byte < 256; byte++) {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
    first[byte] = rest;
  }
  for (let k = 1; k < SLICES; k++) {
    const [before, table] = [all[k - 1] as Uint32Array, all[k] as Uint32Array];
    for (let byte = 0; byte < 256; byte++) {
      const rest = before[byte] as number;
      table[byte] = (rest >>> 8) ^ (first[rest & 255] as number);
    }
  }
  return all;
}

/** `before`: the checksum of the bytes that come before these; 0 if there are none. */
export type Crc32 = (bytes: Uint8Array, before?: number) => number;

export function crc32(bytes: Uint8Array, before = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES as unknown as readonly [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ];
  let crc = ~before;
  let at = 0;
  for (const end = bytes.length - (bytes.length % SLICES); at < end; at += SLICES) {
    const b0 = (bytes[at] as number) ^ (crc & 255);
    const b1 = (bytes[at + 1] as number) ^ ((crc >>> 8) & 255);
    const b2 = (bytes[at + 2] as number) ^ ((crc >>> 16) & 255);
    const b3 = (bytes[at + 3] as number) ^ (crc >>> 24);
    crc =
      (t7[b0] as number) ^
      (t6[b1] as number) ^
      (t5[b2] as number) ^
      (t4[b3] as number) ^
      (t3[bytes[at + 4] as number] as number) ^
      (t2[bytes[at + 5] as number] as number) ^
      (t1[bytes[at + 6] as number] as number) ^
      (t0[bytes[at + 7] as number] as number);
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ (t0[((bytes[at] as number) ^ crc) & 255] as number);
  return ~crc >>> 0;
}
