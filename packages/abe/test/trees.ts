/** Random access trees for fast-check. */
import { attribute, type Policy, threshold } from '@basa/abe';
import fc from 'fast-check';

/** Trees over these attributes, with repetitions. */
export function trees(names: readonly (string | Uint8Array)[]): fc.Arbitrary<Policy> {
  const { tree } = fc.letrec<{ tree: Policy; leaf: Policy; node: Policy }>((tie) => ({
    tree: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('node')),
    leaf: fc.constantFrom(...names).map((name) => attribute(name)),
    node: fc
      .tuple(fc.array(tie('tree'), { minLength: 1, maxLength: 4 }), fc.nat())
      .map(([children, n]) => threshold(1 + (n % children.length), ...children)),
  }));
  return tree;
}
