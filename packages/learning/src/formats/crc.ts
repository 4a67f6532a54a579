/** Cyclic redundancy checks of 32 bits, reflected: of zip files (IEEE 802.3), and Castagnoli's (RFC 3720, B.4). */

export const crc32: (bytes: Uint8Array) => number = crcOf(0xedb8_8320);
export const crc32c: (bytes: Uint8Array) => number = crcOf(0x82f6_3b78);

function crcOf(polynomial: number): (bytes: Uint8Array) => number {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    return crc;
  });
  return (bytes) => {
    let crc = 0xffff_ffff;
    for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 255] as number);
    return (crc ^ 0xffff_ffff) >>> 0;
  };
}
