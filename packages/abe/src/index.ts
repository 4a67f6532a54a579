/** CP-ABE by Bethencourt, Sahai and Waters (2007) on BLS12-381, with mcl as its library. noble is `@basa/abe/noble`. */
export type { Ciphertext, Encapsulation, LeafPart } from './ciphertext.ts';
export {
  decodeAttributeKey,
  decodeCiphertext,
  decodeEncapsulation,
  decodeMasterKey,
  decodePublicKey,
  encodeAttributeKey,
  encodeCiphertext,
  encodeEncapsulation,
  encodeMasterKey,
  encodePublicKey,
} from './codec.ts';
export {
  type Decrypted,
  type DecryptTools,
  decapsulate,
  decrypt,
  type EncapsulateRequest,
  type EncryptTools,
  encapsulate,
  encrypt,
} from './encryption.ts';
export {
  ATTRIBUTE_DST,
  type Element as GroupElement,
  type G1,
  type G2,
  type Group,
  type GT,
  type Kind as GroupElementKind,
  type PairingInput,
  type Points,
  type Scalar,
  type Scalars,
  type TargetGroup,
} from './group.ts';
export {
  type AttributeKey,
  freshKeyRandomness,
  type KeyComponent,
  type KeyPair,
  type KeyRandomness,
  keyGen,
  type MasterKey,
  type PublicKey,
  prfKeyRandomness,
  publicKeyOf,
  setup,
  verifyKey,
  wipeMasterKey,
} from './keys.ts';
export { createMclGroup } from './mcl/group.ts';
export {
  type AttributeLeaf,
  and,
  attribute,
  formatPolicy,
  or,
  type Policy,
  satisfies,
  type Threshold,
  threshold,
} from './policy.ts';
export { PolicySyntaxError, parsePolicy } from './policy-parser.ts';
export { type AbeIssuer, abeIssuer, abeSealing, type CachedSealing, warmUpPairing } from './sealing.ts';
