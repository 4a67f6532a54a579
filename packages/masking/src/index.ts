/** Vectors, masks, quantiser and the ports of the pure packages. */
export {
  applyMasksInPlace,
  applyMasksInPlaceAsync,
  type MaskPlan,
  type MaskTerm,
  type MaskTools,
} from './apply-masks.ts';
export { ascii, concatBytes, equalBytes, fromHex, toHex } from './bytes.ts';
export { ByteReader, ByteWriter, DecodeError } from './codec.ts';
export { type Crc32, crc32 } from './crc32.ts';
export {
  type HolderBinding,
  type HolderKey,
  holderSealedBytes,
  openAsHolder,
  sealToHolders,
} from './holder-sealing.ts';
export {
  combineSecrets,
  type HolderSecret,
  type HybridBinding,
  type HybridHolder,
  hybridSealedBytes,
  openHybrid,
  sealToHybrid,
} from './hybrid-sealing.ts';
export { isKemKey, KEM_KEY_BYTES, KEM_SECRET_BYTES, KEM_SEED_BYTES } from './kem-key.ts';
export {
  AGREEMENT_KEY_BYTES,
  isAgreementKey,
  type KeyResult,
  type KeySteps,
  type KeyWork,
  keysAtOnce,
  withKeysOf,
} from './key-agreement.ts';
export { type AsyncKeystream, type Keystream, type KeystreamRequest, SEED_BYTES } from './keystream.ts';
export {
  elementBits,
  FIELD,
  FIELD_PRIME,
  type Modulus,
  modulusName,
  modulusSize,
  RING_32,
  ring,
  signedCapacity,
  toResidue,
  toSigned,
} from './modulus.ts';
export { addPackedInPlace, packedLength, packVector, unpackVector } from './packing.ts';
export { integerWeight, type Planned, type PlanRequest, planQuantizer, weightScale } from './planner.ts';
export { deltaOf, epsilonOf, inclusionCost } from './privacy/accountant.ts';
export { roundWithin, squaredBound } from './privacy/bounded-rounding.ts';
export { addNoiseInPlace, noiseTable } from './privacy/discrete-gaussian.ts';
export {
  MIN_DEVIATION,
  type Noise,
  type NoiseRequest,
  noiseOf,
  noiseProblem,
  noisySumBound,
} from './privacy/noise.ts';
export { type PrivatePlan, planPrivate } from './privacy/private-plan.ts';
export { dequantizeSum, firstOutOfRange, quantize, quantizedBound, type RandomWords } from './quantizer.ts';
export {
  type AttributeKeyIssuer,
  type SeedSealing,
  unsafeTransparentIssuer,
  unsafeTransparentSealing,
} from './sealing.ts';
export { Secret } from './secret.ts';
export type { Kem, RandomBytes, Signer, Suite } from './suite.ts';
export { addInPlace, firstNonCanonical, subtractInPlace } from './vector.ts';
export { type ElementKernel, plainVectorKernel, type VectorKernel } from './vector-kernel.ts';
