/** A device of the one-shot mode in as few words as authorities see of it: it seals a seed for each part, masks, and signs. */
import { applyMasksInPlace, concatBytes, keysAtOnce, packVector, plainVectorKernel, SEED_BYTES } from '@basa/masking';
import {
  type Certificate,
  type Epoch,
  epochNameOf,
  heldParts,
  type JoinTag,
  type ModelEntry,
  modelEntryCodec,
  oneShotOf,
  partBinding,
  partTerm,
  type ShotHeaderBody,
  type ShownUpload,
  sealParts,
  shotHeaderCodec,
  shotLayout,
  type TaskPolicy,
  taskIdOf,
} from '@basa/protocol';
import { withKem } from '@basa/runtime/kem';
import { createNodeKeystream, createWasmVectorKernel, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { type Device, userOf } from '../asking.ts';

export const kernel = createWasmVectorKernel() ?? plainVectorKernel();
const maskTools = { suite: nodeSuite, kernel, keystream: createNodeKeystream() };

export interface Enrolled {
  readonly device: Device;
  readonly certificate: Certificate;
}

/** The server's part of an upload, and the part that only the device has. */
export interface TestUpload {
  readonly shown: ShownUpload;
  /** y. */
  readonly masked: Uint32Array;
  /** x'. */
  readonly input: Uint32Array;
}

export interface ShotOn {
  readonly policy: TaskPolicy;
  readonly entry: ModelEntry;
  readonly epochs: readonly Epoch[];
}

/** Every word of the input but the guards has this value. */
export function upload({ device, certificate }: Enrolled, { policy, entry, epochs }: ShotOn, value = 7): TestUpload {
  const name = { task: taskIdOf(nodeSuite, policy), joinTag: nodeRandomBytes(32) as JoinTag, user: userOf(device) };
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
  const input = new Uint32Array(shotLayout(policy, names).elements).fill(value);
  input.set([1, 0, 0, 0]);
  const masked = input.slice();
  const terms = held.map(({ part }, n) => partTerm(nodeSuite, name, part, (seeds[n] as Uint8Array).slice(), 1));
  applyMasksInPlace(masked, { modulus: policy.modulus, salt: name.joinTag, terms }, maskTools);
  const body: ShotHeaderBody = {
    ...name,
    version: entry.version,
    entry: modelEntryCodec.statementHash(nodeSuite, entry),
    epochs: names,
    bodyHash: nodeSuite.sha256(packVector(masked, policy.modulus, kernel), sealed),
    partsHash: nodeSuite.sha256(sealed),
  };
  const header = { ...body, signature: device.sign(shotHeaderCodec.statement(body)) };
  return { shown: { certificate, header, sealed }, masked, input };
}
