/** Opens the sum of a federation's buffer from the server's store. */
import { addInPlace, packedLength, type Unpacked, unpackVector } from '@basa/masking';
import {
  type Deposit,
  type Descriptor,
  ENGINE,
  judgeSum,
  type OpeningInput,
  openingTerms,
  prefixElements,
  readSealedParts,
  type SecureBuffer,
  type Slot,
  type SumVerdict,
  sealedBytesOf,
  uploadLayout,
} from '@basa/protocol';
import type { Sealings, World } from './world.ts';

/** The content of the server's store for one buffer. */
export interface StoredUploads {
  readonly deposits: readonly Deposit[];
  bodyOf(slot: Slot): Uint8Array;
}

/** Seeds are longer if more authorities have a part in the buffer. */
export function sealedIn(
  { engine, sealing }: Sealings,
  descriptor: Descriptor | undefined,
): { readonly sealedBytes: number } {
  if (engine !== ENGINE.slotKeys || descriptor === undefined) return sealing;
  return { sealedBytes: sealedBytesOf(engine, descriptor.parts.length) ?? sealing.sealedBytes };
}

/** y, which stands first in a body. */
export function unpackBody(descriptor: Descriptor, body: Uint8Array): Unpacked {
  const { dimension, modulus } = descriptor;
  const elements = dimension + prefixElements(descriptor);
  return unpackVector(body.subarray(0, packedLength(elements, modulus)), elements, modulus);
}

export function vectorIn(descriptor: Descriptor, body: Uint8Array): Uint32Array {
  const unpacked = unpackBody(descriptor, body);
  if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
  return unpacked.vector;
}

export function openStored(
  world: World,
  buffer: SecureBuffer,
  { deposits, bodyOf }: StoredUploads,
  keys: OpeningInput['keys'],
): SumVerdict {
  const { descriptor, accepted, ctx } = buffer;
  const { suite, kernel } = world.environment.tools;
  const { sealing } = world.sealings;
  const opening = openingTerms({
    suite,
    sealing,
    buffer,
    keys,
    deposits,
    uploadOf: (slot) => {
      const header = buffer.slots[slot]?.header;
      if (header === undefined) throw new Error('no header');
      const layout = uploadLayout(descriptor, header, sealedIn(world.sealings, descriptor));
      return { header, ...readSealedParts(bodyOf(slot), layout) };
    },
  });
  if (opening.kind === 'unopened') {
    const { cheated, unsure } = opening;
    const why = cheated.length > 0 ? `slots ${cheated} cheated` : `slots ${unsure} or an authority cheated`;
    return { kind: 'quarantine', why };
  }
  const { modulus, dimension } = descriptor;
  const total = new Uint32Array(dimension + prefixElements(descriptor));
  for (const slot of accepted) addInPlace(total, vectorIn(descriptor, bodyOf(slot)), modulus, kernel);
  world.mask(total, { modulus, salt: ctx, terms: opening.terms });
  return judgeSum(descriptor, total, accepted.length);
}
