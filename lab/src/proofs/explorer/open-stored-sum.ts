/** The sum of a granted buffer, from what the server has on disk and the keys of the close answer. */
import { addInPlace, applyMasksInPlace, unpackVector } from '@basa/masking';
import {
  type CloseAnswer,
  type Deposit,
  judgeSum,
  openingTerms,
  prefixElements,
  readSealedParts,
  type SecureBuffer,
  type Slot,
  type SumVerdict,
  uploadLayout,
} from '@basa/protocol';
import { ALONE } from '../one-authority.ts';
import type { Cast } from './cast.ts';
import type { StoredBuffer } from './server-store.ts';

export function openStoredSum(
  { tools, sealings }: Cast,
  { records, bodies }: StoredBuffer,
  buffer: SecureBuffer,
  { keys }: Pick<CloseAnswer, 'keys'>,
): SumVerdict {
  const { descriptor, ctx } = buffer;
  const bodyOf = (slot: Slot): Uint8Array => bodies.get(slot) ?? new Uint8Array();
  const layoutOf = (slot: Slot) => {
    const header = buffer.slots[slot]?.header;
    if (header === undefined) throw new Error('an accepted slot without a header');
    return { header, layout: uploadLayout(descriptor, header, sealings.sealing) };
  };
  const opening = openingTerms({
    suite: tools.suite,
    sealing: sealings.sealing,
    buffer,
    keys: [{ authority: ALONE, keys }],
    deposits: records.flatMap((entry): Deposit[] => (entry.kind === 'deposited' ? [entry.deposit] : [])),
    uploadOf: (slot) => {
      const { header, layout } = layoutOf(slot);
      return { header, ...readSealedParts(bodyOf(slot), layout) };
    },
  });
  if (opening.kind === 'unopened') return { kind: 'quarantine', why: `slot ${opening.cheated} cheated` };
  const total = new Uint32Array(descriptor.dimension + prefixElements(descriptor));
  for (const slot of buffer.accepted) {
    const { layout } = layoutOf(slot);
    const unpacked = unpackVector(bodyOf(slot).subarray(0, layout.vectorBytes), layout.elements, descriptor.modulus);
    if (unpacked.kind === 'malformed') throw new Error(unpacked.problem);
    addInPlace(total, unpacked.vector, descriptor.modulus, tools.kernel);
  }
  applyMasksInPlace(total, { modulus: descriptor.modulus, salt: ctx, terms: opening.terms }, tools);
  return judgeSum(descriptor, total, buffer.accepted.length);
}
