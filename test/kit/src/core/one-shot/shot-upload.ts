/** An upload of the one-shot mode without the steps of a device: it seals a seed for each part, masks, and signs. */
import type { SigningDevice } from '@basa/conformance/signing-device.ts';
import { applyMasksInPlace, concatBytes, keysAtOnce, packVector, plainVectorKernel, SEED_BYTES } from '@basa/masking';
import {
  type Certificate,
  type Epoch,
  epochNameOf,
  heldParts,
  type JoinTag,
  type ModelStatementBody,
  modelNameOf,
  oneShotOf,
  partBinding,
  partsHashOf,
  partTerm,
  type ShotHeaderBody,
  type ShownUpload,
  sealParts,
  shotHeaderCodec,
  type TaskPolicy,
  taskIdOf,
  userIdOf,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';

export const kernel = createWasmVectorKernel() ?? plainVectorKernel();
const maskTools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };

export interface Enrolled {
  readonly device: SigningDevice;
  readonly certificate: Certificate;
}

/** The server's part of an upload, and the part that only the device has. */
export interface TestUpload {
  readonly shown: ShownUpload;
  /** y. */
  readonly masked: Uint32Array;
  /** x'. */
  readonly input: Uint32Array;
  readonly body: Uint8Array;
}

export interface ShotOn {
  readonly policy: TaskPolicy;
  readonly statement: ModelStatementBody;
  readonly epochs: readonly Epoch[];
}

export function maskedUpload(
  { device, certificate }: Enrolled,
  { policy, statement, epochs }: ShotOn,
  input: Uint32Array,
): TestUpload {
  const user = userIdOf(nodeSuite, device.deviceKey);
  const name = { task: taskIdOf(nodeSuite, policy), joinTag: nodeRandomBytes(16) as JoinTag, user };
  const names = epochs.map((epoch) => epochNameOf(nodeSuite, epoch));
  const held = heldParts(policy, names);
  const seeds = held.map(() => nodeRandomBytes(SEED_BYTES));
  const toSeal = held.map((part, n) => ({
    seed: seeds[n] as Uint8Array,
    binding: partBinding(nodeSuite, name, part, epochs),
  }));
  const sealed = concatBytes(
    ...keysAtOnce(nodeSuite, sealParts(withKem(nodeSuite), oneShotOf(policy).sealing, toSeal)),
  );
  const masked = input.slice();
  const terms = held.map(({ part }, n) => partTerm(nodeSuite, name, part, (seeds[n] as Uint8Array).slice(), 1));
  applyMasksInPlace(masked, { modulus: policy.modulus, salt: name.joinTag, terms }, maskTools);
  const body = concatBytes(packVector(masked, policy.modulus, kernel), sealed);
  const unsigned: ShotHeaderBody = {
    ...name,
    model: modelNameOf(nodeSuite, statement),
    epochs: names,
    partsHash: partsHashOf(nodeSuite, held, sealed) as Uint8Array,
  };
  const header = { ...unsigned, signature: device.sign(shotHeaderCodec.statement(unsigned)) };
  return { shown: { certificate, header, sealed }, masked, input, body };
}
