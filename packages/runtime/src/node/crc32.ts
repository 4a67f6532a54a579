/** CRC-32 by the zlib of Node. */
import { crc32 } from 'node:zlib';
import type { Crc32 } from '@basa/masking';

export const nodeCrc32: Crc32 = (bytes, before = 0) => crc32(bytes, before);
