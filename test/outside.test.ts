/** The primitives of both suites, held to cases that others wrote; `npm run lab -- outside` does the same in Chromium and Python. */

import { drawsOf, surprise } from '@basa/lab/outside/gaussian.ts';
import { nodePlatform } from '@basa/lab/outside/platforms.ts';
import { hasOutsideFolder, inNode, NO_FOLDER, textsOf } from '@basa/lab/outside/run.ts';
import { SUITES } from '@basa/lab/outside/suites.ts';
import { describe, expect, it } from 'vitest';

if (!hasOutsideFolder()) console.info(NO_FOLDER);

// The cases are not part of the repository.
describe.runIf(hasOutsideFolder())('cases that others wrote', () => {
  it('end as published on the suite of Node and on that of browsers', async () => {
    let cases = 0;
    for await (const result of inNode(10)) {
      expect(result, result.name).toMatchObject({ failed: [] });
      cases += result.cases;
    }
    expect(cases).toBeGreaterThan(4000);
  });

  it.each(Object.keys(SUITES).filter((name) => name.startsWith('Wycheproof')))(
    '%s finds a suite that is wrong in one bit',
    async (name) => {
      const platform = await nodePlatform();
      const { suite } = platform;
      const flipped = <Bytes extends Uint8Array | undefined>(bytes: Bytes): Bytes => {
        if (bytes !== undefined && bytes.length > 0) bytes[0] = (bytes[0] as number) ^ 1;
        return bytes;
      };
      const kem = suite.kem && {
        ...suite.kem,
        keyPair: (seed: Uint8Array) => {
          const { publicKey, secretKey } = (suite.kem as NonNullable<typeof suite.kem>).keyPair(seed);
          return { publicKey: flipped(publicKey.slice()), secretKey };
        },
        encapsulate: (key: Uint8Array, randomness: Uint8Array) => {
          const { ciphertext, shared } = (suite.kem as NonNullable<typeof suite.kem>).encapsulate(key, randomness);
          return { ciphertext, shared: flipped(shared) };
        },
      };
      const wrong = {
        ...platform,
        suite: {
          ...suite,
          hkdf: (input: Parameters<typeof suite.hkdf>[0]) => flipped(suite.hkdf(input)),
          open: (input: Parameters<typeof suite.open>[0]) => flipped(suite.open(input)),
          verify: (input: Parameters<typeof suite.verify>[0]) => !suite.verify(input),
          kem,
        },
        agree: (secret: Uint8Array, peer: Uint8Array) => flipped(suite.x25519(secret).agree(peer)),
      };
      const { failed } = (await SUITES[name]?.run(textsOf(name), wrong)) ?? { failed: [] };
      expect(failed.length).toBeGreaterThan(0);
    },
  );
});

it('draws of another deviation do not pass as those of this one', async () => {
  const draws = await drawsOf(3, await nodePlatform());
  expect(Math.abs(surprise(draws, 3))).toBeLessThan(5.2);
  expect(Math.abs(surprise(draws, 3.05))).toBeGreaterThan(5.2);
});
