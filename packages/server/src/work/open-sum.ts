/** Opens the sum of a closed buffer: adds the bodies block by block, so that memory does not grow with the users. */
import type { Group } from '@basa/abe';
import { engineSealing } from '@basa/abe';
import type { Keystream, MaskTools } from '@basa/masking';
import { addInPlace, applyMasksInPlace, dequantizeSum, elementBits, unpackVector } from '@basa/masking';
import type { Descriptor, SecureBuffer, StoredUpload, UploadHeader, UploadLayout } from '@basa/protocol';
import {
  decodeBufferRecord,
  descriptorCodec,
  judgeSum,
  openingTerms,
  readBackups,
  restoreSecureBuffer,
  uploadLayout,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { BlobStore } from '../blobs/blob-store.ts';
import { wordPieces } from '../blobs/words.ts';
import { messagesOf } from '../buffer-keeper.ts';
import type { OpenedSum, OpenSumTask } from './tasks.ts';

export interface OpenSumTools extends MaskTools<Keystream> {
  readonly group: Group;
  readonly blobs: BlobStore;
}

export async function openSum(task: OpenSumTask, tools: OpenSumTools): Promise<OpenedSum> {
  const { suite, blobs, group } = tools;
  const descriptor = descriptorCodec.decode(task.descriptor);
  const buffer = restoreSecureBuffer(suite, descriptor, task.facts.map(decodeBufferRecord));
  const sealing = engineSealing(descriptor.engine, descriptor.sealingKey, {
    group,
    suite,
    randomBytes: nodeRandomBytes,
  });
  try {
    // Backups are for what dropped slots sealed: where none dropped, none are read.
    const hasDropped = buffer.slots.length > buffer.accepted.length;
    const uploads: (StoredUpload & { slot: number; key: string; layout: UploadLayout })[] = [];
    for (const { slot, key } of task.bodies) {
      const header = headerOf(buffer, slot);
      const layout = uploadLayout(descriptor, header, sealing);
      uploads.push({ slot, key, header, layout, backups: hasDropped ? await backupsOf(blobs, key, layout) : [] });
    }
    const opening = openingTerms({
      suite,
      sealing,
      buffer,
      keys: task.keys,
      deposits: task.deposits.map((bytes) => messagesOf(descriptor).deposit.decode(bytes)),
      uploadOf(slot) {
        const upload = uploads.find((found) => found.slot === slot);
        if (upload === undefined) throw new Error(`the body of slot ${slot} is missing`);
        return upload;
      },
    });
    if (opening.kind === 'cheated')
      return { kind: 'quarantine', why: 'a seed is not the one its owner committed to', slots: opening.slots };
    const total = new Uint32Array(uploads[0]?.layout.elements ?? 0);
    for (const { key, layout } of uploads) await addBody(total, descriptor, { key, layout }, tools);
    applyMasksInPlace(total, { modulus: descriptor.modulus, salt: buffer.ctx, terms: opening.terms }, tools);
    for (const { seed } of opening.terms) seed.wipe();
    return meanOf(descriptor, total, buffer.accepted.length);
  } finally {
    sealing.destroy();
  }
}

function meanOf(descriptor: Descriptor, total: Uint32Array, accepted: number): OpenedSum {
  const verdict = judgeSum(descriptor, total, accepted);
  if (verdict.kind === 'quarantine') return { kind: 'quarantine', why: verdict.why, slots: [] };
  const { weightScale } = descriptor;
  return {
    kind: 'mean',
    mean: dequantizeSum(verdict.sum, descriptor, { weightSum: verdict.weightSum, weightScale }),
  };
}

function headerOf({ slots }: SecureBuffer, slot: number): UploadHeader {
  const header = slots[slot]?.header;
  if (header === undefined) throw new Error(`slot ${slot} has no upload`);
  return header;
}

async function backupsOf(blobs: BlobStore, key: string, layout: UploadLayout): Promise<readonly Uint8Array[]> {
  const { vectorBytes, bodyBytes } = layout;
  const tail = await collect(blobs.read(key, vectorBytes, bodyBytes), bodyBytes - vectorBytes);
  return readBackups(tail, { ...layout, vectorBytes: 0 });
}

/** total += y of one body. */
async function addBody(
  total: Uint32Array,
  { modulus }: Descriptor,
  { key, layout }: { readonly key: string; readonly layout: UploadLayout },
  { blobs, kernel }: OpenSumTools,
): Promise<void> {
  const pieces = blobs.read(key, 0, layout.vectorBytes);
  if (elementBits(modulus) !== 32) {
    const unpacked = unpackVector(await collect(pieces, layout.vectorBytes), layout.elements, modulus);
    if (unpacked.kind === 'malformed') throw new Error(`a stored vector is damaged: ${unpacked.problem}`);
    addInPlace(total, unpacked.vector, modulus, kernel);
    return;
  }
  let at = 0;
  for await (const block of wordPieces(pieces)) {
    addInPlace(total.subarray(at, at + block.length), block, modulus, kernel);
    at += block.length;
  }
}

async function collect(pieces: AsyncIterable<Uint8Array>, length: number): Promise<Uint8Array> {
  const whole = new Uint8Array(length);
  let at = 0;
  for await (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
