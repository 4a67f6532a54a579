import { expect, test } from 'vitest';
import { deviceHashes, SMALL } from '../src/bench/protocols/device-hashes.ts';

const DIMENSION = 1000;

test('the SDK hashes a downloaded model once, and the benchmark charges what it hashes of an update', async () => {
  const hashed = (await deviceHashes([DIMENSION])).get(DIMENSION);
  const vectorBytes = 4 * (DIMENSION - SMALL);
  expect(hashed?.model).toBe(vectorBytes);
  expect((hashed?.update ?? -1) % vectorBytes).toBe(0);
});
