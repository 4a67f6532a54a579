/** Bytes of sealed mode with slot keys, counted on the wire by a whole run at a tiny dimension. */

import { nodeTools, profileOf, TINY } from '@basa/virtual-time';
import { expect, it } from 'vitest';

const SIZES = { sealedBytes: 240, keyBytes: 278 };

function bytesOf(name: 'BASA sealed (slot keys)' | 'BASA sealed (CP-ABE)', users: number) {
  const profile = profileOf({ name, users, leaving: 0 }, nodeTools(), SIZES, 1);
  const phase = (wanted: string) => profile?.phases.find((one) => one.name === wanted);
  return {
    deposit: phase('deposit')?.up[0] ?? 0,
    upload: phase('upload')?.up[0] ?? 0,
    key: phase('upload')?.down[0] ?? 0,
  };
}

it('a seed sealed by a slot key has 64 bytes and one by CP-ABE 240; everything else is equal', () => {
  const slots = [3, 4].map((users) => bytesOf('BASA sealed (slot keys)', users).deposit);
  const attributes = [3, 4].map((users) => bytesOf('BASA sealed (CP-ABE)', users).deposit);
  const more = ([few, many]: readonly number[]): number => (many ?? 0) - (few ?? 0);
  expect(more(attributes) - more(slots)).toBe(240 - 64);
});

it('an upload holds its vector: 4 bytes for each of the tiny elements, and less than a kilobyte beside it', () => {
  const { upload } = bytesOf('BASA sealed (slot keys)', 3);
  expect(upload).toBeGreaterThan(4 * TINY);
  expect(upload).toBeLessThan(4 * TINY + 1024);
});

it('a slot key is smaller than one of CP-ABE', () => {
  expect(bytesOf('BASA sealed (slot keys)', 3).key).toBeLessThan(bytesOf('BASA sealed (CP-ABE)', 3).key);
});
