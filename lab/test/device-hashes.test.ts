import { expect, test } from 'vitest';
import { deviceHashes, SMALL } from '../src/bench/protocols/device-hashes.ts';

const DIMENSION = 1000;

test('the SDK hashes a downloaded model once and no update, and the benchmark charges its checksums', async () => {
  const hashed = (await deviceHashes([DIMENSION])).get(DIMENSION);
  const vectorBytes = 4 * (DIMENSION - SMALL);
  expect(hashed?.model).toBe(vectorBytes);
  expect(hashed?.update).toBe(0);
  expect((hashed?.checksums ?? -1) % vectorBytes).toBe(0);
});
