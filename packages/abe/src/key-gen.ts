/** KeyGen of BSW07 (4.2): a key for a set of attributes. Every multiplication is the constant-time one. */
import type { Group, Scalar } from './group.ts';
import type { KeyRandomness } from './key-randomness.ts';
import { type AttributeKey, compareAttributes, type KeyComponent, type MasterKey } from './keys.ts';
import { attributeBytes } from './policy.ts';
import { scalarFrom } from './random-scalar.ts';

export const MAX_KEY_ATTRIBUTES = 1024;

export function keyGen(
  request: {
    readonly masterKey: MasterKey;
    readonly attributes: readonly (string | Uint8Array)[];
    readonly randomness: KeyRandomness;
  },
  { group }: { readonly group: Group },
): AttributeKey {
  const { masterKey, randomness } = request;
  const { g1, g2, scalars } = group;
  const attributes = canonicalSet(request.attributes);
  const r = scalarFrom(group, randomness.forKey(attributes));
  const alphaPlusR = scalars.add(masterKey.alpha, r);
  const exponent = scalars.multiply(alphaPlusR, masterKey.betaInverse);
  if (scalars.isZero(exponent)) throw new Error('the master key has been wiped');
  const d = g2.multiplySecret(g2.generator, exponent); // D = g2^((alpha + r) / beta)
  const gr = g1.multiplySecret(g1.generator, r);
  const components = attributes.map((attribute): KeyComponent => {
    const rj = scalarFrom(group, randomness.forAttribute(attribute, attributes));
    const dj = g1.add(gr, g1.multiplySecret(group.hashToG1(attribute), rj)); // D_j = g1^r H(j)^r_j
    const djPrime = g2.multiplySecret(g2.generator, rj); // D'_j = g2^r_j
    scalars.wipe(rj);
    return { attribute, dj, djPrime };
  });
  wipeAll(group, [r, alphaPlusR, exponent]);
  return { d, components };
}

/** Returns the set in its canonical order. A repeated attribute is a mistake of the caller. */
function canonicalSet(names: readonly (string | Uint8Array)[]): readonly Uint8Array[] {
  if (names.length === 0 || names.length > MAX_KEY_ATTRIBUTES) {
    throw new RangeError(`a key has 1 to ${MAX_KEY_ATTRIBUTES} attributes, got ${names.length}`);
  }
  const sorted = names.map((name) => attributeBytes(name).slice()).sort(compareAttributes);
  const repeated = sorted.find(
    (attribute, i) => i > 0 && compareAttributes(sorted[i - 1] as Uint8Array, attribute) === 0,
  );
  if (repeated !== undefined) throw new RangeError('an attribute is named twice');
  return sorted;
}

function wipeAll(group: Group, used: readonly Scalar[]): void {
  for (const scalar of used) group.scalars.wipe(scalar);
}
