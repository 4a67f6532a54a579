/** Vectors, masks, quantiser and the ports of the pure packages. */
export type { MaskTools } from './apply-masks.ts';
export { applyMasksInPlace, applyMasksInPlaceAsync } from './apply-masks.ts';
export { ascii, concatBytes, equalBytes, fromHex, toHex } from './bytes.ts';
export { ByteReader, ByteWriter, DecodeError } from './codec.ts';
export type { HolderSecret, HybridBinding, HybridPart } from './hybrid-sealing.ts';
export { combineSecrets, hybridSealedBytes, openHybrid, sealToHybrid } from './hybrid-sealing.ts';
export { isKemKey, KEM_CIPHERTEXT_BYTES, KEM_KEY_BYTES, KEM_SECRET_BYTES, KEM_SEED_BYTES } from './kem-key.ts';
export type { AsyncKeystream, Keystream, KeystreamRequest, StreamKey } from './keystream.ts';
export { SEED_BYTES } from './keystream.ts';
export type { MaskPlan, MaskTerm } from './mask-plan.ts';
export type { Modulus } from './modulus.ts';
export {
  elementBits,
  FIELD,
  FIELD_PRIME,
  modulusName,
  modulusSize,
  RING_32,
  ring,
  signedCapacity,
  streamWidth,
  toResidue,
  toSigned,
} from './modulus.ts';
export type { Unpacked } from './packing.ts';
export { addPackedInPlace, packedLength, packVector, unpackVector } from './packing.ts';
export type { Planned, PlanRequest, QuantizerPlan } from './planner.ts';
export { planQuantizer } from './planner.ts';
export { deltaOf, epsilonOf, inclusionCost, inclusionsWithin } from './privacy/accountant.ts';
export type { Rounded } from './privacy/bounded-rounding.ts';
export { roundWithin, squaredBound } from './privacy/bounded-rounding.ts';
export type { NoiseTable } from './privacy/discrete-gaussian.ts';
export { addNoiseInPlace, MAX_NOISE_DEVIATION, noiseTable } from './privacy/discrete-gaussian.ts';
export type { Noise, NoiseRequest } from './privacy/noise.ts';
export { MIN_DEVIATION, noiseOf, noiseProblem, noiseToSignal, noisySumBound } from './privacy/noise.ts';
export type { PrivatePlan, PrivatePlanned, PrivatePlanRequest } from './privacy/private-plan.ts';
export { bufferForSignal, planPrivate } from './privacy/private-plan.ts';
export type { Quantized, QuantizeOptions, Quantizer, RandomWords, SumWeights } from './quantizer.ts';
export { dequantizeSum, firstOutOfRange, quantize, quantizedBound } from './quantizer.ts';
export type { AttributeKeyIssuer, SeedSealing } from './sealing.ts';
export { unsafeTransparentIssuer, unsafeTransparentSealing } from './sealing.ts';
export { Secret } from './secret.ts';
export type { SlotKeyRole, SlotKeySource } from './slot-key-list.ts';
export {
  isSlotKey,
  slotKeyList,
  slotKeyListBytes,
  slotKeyListProblem,
  slotKeyOf,
  slotSecret,
} from './slot-key-list.ts';
export type { KeyResult, KeySteps, KeyWork, SealedWithPads, SlotBinding, SlotPart } from './slot-keys.ts';
export {
  keysAtOnce,
  openWithPads,
  openWithSlotKeys,
  padOfShared,
  SLOT_KEY_BYTES,
  sealToSlots,
  slotSealedBytes,
} from './slot-keys.ts';
export type { AeadInput, Kem, RandomBytes, Signer, Suite, X25519Key } from './suite.ts';
export { addInPlace, firstNonCanonical, subtractInPlace } from './vector.ts';
export type { ElementKernel, VectorKernel } from './vector-kernel.ts';
export { plainVectorKernel } from './vector-kernel.ts';
export { integerWeight, weightScale } from './weights.ts';
