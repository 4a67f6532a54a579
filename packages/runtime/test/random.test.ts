import { expect, it } from 'vitest';
import { nodeRandomBytes } from '../src/node/index.ts';
import { webRandomBytes } from '../src/web/index.ts';

it.each([
  ['Node', nodeRandomBytes],
  ['the browser', webRandomBytes],
])(
  'random bytes of %s have the length asked for, also beyond what WebCrypto gives at once, and no dead stretch',
  (_, random) => {
    expect(random(0)).toHaveLength(0);
    const bytes = random(200_000);
    expect(bytes).toHaveLength(200_000);
    for (let start = 0; start < bytes.length; start += 32) {
      expect(bytes.subarray(start, start + 32).some((byte) => byte !== 0)).toBe(true);
    }
    expect(random(32)).not.toEqual(random(32));
  },
);
