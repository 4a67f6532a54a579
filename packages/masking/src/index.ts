/** Vectors, masks, quantiser and the ports of the pure packages. */
export { applyMasksInPlace, applyMasksInPlaceAsync, type MaskTools } from './apply-masks.ts';
export { ascii, concatBytes, equalBytes, fromHex, toHex } from './bytes.ts';
export { ByteReader, ByteWriter, DecodeError } from './codec.ts';
export { type Crc32, crc32 } from './crc32.ts';
export {
  type HolderBinding,
  type HolderKey,
  holderSealedBytes,
  openAsHolder,
  type SeedToSeal,
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
export { isKemKey, KEM_CIPHERTEXT_BYTES, KEM_KEY_BYTES, KEM_SECRET_BYTES, KEM_SEED_BYTES } from './kem-key.ts';
export {
  AGREEMENT_KEY_BYTES,
  isAgreementKey,
  type KeyResult,
  type KeySteps,
  type KeyWork,
  keysAtOnce,
  withKeysOf,
} from './key-agreement.ts';
export { type AsyncKeystream, type Keystream, type KeystreamRequest, SEED_BYTES, type StreamKey } from './keystream.ts';
export type { MaskPlan, MaskTerm } from './mask-plan.ts';
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
  streamWidth,
  toResidue,
  toSigned,
} from './modulus.ts';
export { addPackedInPlace, packedLength, packVector, type Unpacked, unpackVector } from './packing.ts';
export { type Planned, type PlanRequest, planQuantizer, type QuantizerPlan } from './planner.ts';
export { deltaOf, epsilonOf, inclusionCost } from './privacy/accountant.ts';
export { type Rounded, roundWithin, squaredBound } from './privacy/bounded-rounding.ts';
export { addNoiseInPlace, MAX_NOISE_DEVIATION, type NoiseTable, noiseTable } from './privacy/discrete-gaussian.ts';
export {
  MIN_DEVIATION,
  type Noise,
  type NoiseRequest,
  noiseOf,
  noiseProblem,
  noisySumBound,
} from './privacy/noise.ts';
export {
  type PrivatePlan,
  type PrivatePlanned,
  type PrivatePlanRequest,
  planPrivate,
} from './privacy/private-plan.ts';
export {
  dequantizeSum,
  firstOutOfRange,
  type Quantized,
  type QuantizeOptions,
  type Quantizer,
  quantize,
  quantizedBound,
  type RandomWords,
  type SumWeights,
} from './quantizer.ts';
export {
  type AttributeKeyIssuer,
  type SeedSealing,
  unsafeTransparentIssuer,
  unsafeTransparentSealing,
} from './sealing.ts';
export { Secret } from './secret.ts';
export type { AeadInput, Kem, RandomBytes, Signer, Suite, X25519Key } from './suite.ts';
export { addInPlace, firstNonCanonical, subtractInPlace } from './vector.ts';
export { type ElementKernel, plainVectorKernel, type VectorKernel } from './vector-kernel.ts';
export { integerWeight, weightScale } from './weights.ts';
