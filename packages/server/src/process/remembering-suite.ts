/** A suite that remembers valid signatures: the certificate of a device comes with its every request. */
import type { Suite } from '@basa/masking';

/** About 100 bytes each. Up to twice as many are kept, the last ones. */
const MOST = 20_000;

export function rememberingSuite(suite: Suite, most: number = MOST): Suite {
  let [young, old] = [new Set<string>(), new Set<string>()];
  return {
    ...suite,
    verify(signed) {
      const { publicKey, signature, message } = signed;
      // Unusual lengths would make the name ambiguous.
      if (publicKey.length !== 32 || signature.length !== 64) return suite.verify(signed);
      const name = Buffer.from(suite.sha256(publicKey, signature, message)).toString('latin1');
      if (young.has(name)) return true;
      const isGood = old.has(name) || suite.verify(signed);
      if (!isGood) return false;
      young.add(name);
      if (young.size >= most) [young, old] = [new Set(), young];
      return true;
    },
  };
}
