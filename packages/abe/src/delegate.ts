/** Delegate of BSW07 (4.2): a key for fewer attributes, made by its holder and independent of the one it comes from. */
import type { RandomBytes } from '@basa/masking';
import type { Group } from './group.ts';
import { canonicalSet } from './key-gen.ts';
import type { AttributeKey, KeyComponent, PublicKey } from './keys.ts';
import { attributeId } from './policy.ts';
import { randomScalar } from './random-scalar.ts';

/** Throws a RangeError if the key lacks one of the attributes. */
export function delegate(
  request: {
    readonly publicKey: PublicKey;
    readonly key: AttributeKey;
    readonly attributes: readonly (string | Uint8Array)[];
  },
  { group, randomBytes }: { readonly group: Group; readonly randomBytes: RandomBytes },
): AttributeKey {
  const { publicKey, key } = request;
  const { g1, g2, scalars } = group;
  const held = new Map(key.components.map((component) => [attributeId(component.attribute), component]));
  const chosen = canonicalSet(request.attributes).map((attribute) => {
    const component = held.get(attributeId(attribute));
    if (component === undefined) throw new RangeError('the key does not hold every attribute to be delegated');
    return component;
  });
  const r = randomScalar(group, randomBytes); // r~
  const d = g2.add(key.d, g2.multiplySecret(publicKey.f, r)); // D f^r~
  const gr = g1.multiplySecret(g1.generator, r);
  const components = chosen.map(({ attribute, dj, djPrime }): KeyComponent => {
    const rk = randomScalar(group, randomBytes); // r~_k
    const blind = g1.add(gr, g1.multiplySecret(group.hashToG1(attribute), rk));
    const component = {
      attribute,
      dj: g1.add(dj, blind), // D_k g1^r~ H(k)^r~_k
      djPrime: g2.add(djPrime, g2.multiplySecret(g2.generator, rk)), // D'_k g2^r~_k
    };
    scalars.wipe(rk);
    return component;
  });
  scalars.wipe(r);
  return { d, components };
}
