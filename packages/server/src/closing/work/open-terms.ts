/** Opens the seeds behind the masks of a share of a closed buffer's slots. */
import type { Suite } from '@basa/masking';
import {
  decodeBufferRecord,
  type Opening,
  openingTerms,
  readSealedParts,
  restoreSecureBuffer,
  type SealedParts,
  type SecureBuffer,
  type StoredUpload,
  type UploadHeader,
  type UploadLayout,
  uploadLayout,
} from '@basa/protocol';
import { type BlobStore, collect } from '../../blobs/blob-store.ts';
import { messagesOf } from '../../buffers/messages.ts';
import { packTerms } from './packed-terms.ts';
import { sealingOf } from './sealing.ts';
import type { OpenedTerms, OpenTermsTask, Quarantined } from './tasks.ts';

export interface OpenTermsTools {
  readonly suite: Suite;
  readonly blobs: BlobStore;
}

export async function openTerms(task: OpenTermsTask, { suite, blobs }: OpenTermsTools): Promise<OpenedTerms> {
  const { descriptor } = task.drawn;
  const buffer = restoreSecureBuffer(suite, task.drawn, task.facts.map(decodeBufferRecord));
  const { sealing, destroy } = await sealingOf(suite, descriptor);
  try {
    // Backups are for seeds that dropped slots sealed: if no slot dropped, only the self seed is read.
    const hasDropped = buffer.slots.length > buffer.accepted.length;
    const uploads = new Map<number, StoredUpload>();
    for (const { slot, key } of task.bodies) {
      const header = headerOf(buffer, slot);
      const layout = uploadLayout(descriptor, header, sealing);
      uploads.set(slot, { header, ...(await partsOf(blobs, key, hasDropped ? layout : { ...layout, backups: 0 })) });
    }
    const opening = openingTerms({
      suite,
      sealing,
      buffer,
      keys: task.keys,
      deposits: task.deposits.map((bytes) => bytes && messagesOf(descriptor).deposit.decode(bytes)),
      slots: task.bodies.map(({ slot }) => slot),
      uploadOf(slot) {
        const upload = uploads.get(slot);
        if (upload === undefined) throw new Error(`the body of slot ${slot} is missing`);
        return upload;
      },
    });
    if (opening.kind === 'unopened') return quarantinedBy(opening);
    const terms = packTerms(opening.terms);
    for (const { seed } of opening.terms) seed.wipe();
    return { kind: 'terms', terms };
  } finally {
    destroy();
  }
}

function quarantinedBy({ cheated, unsure }: Extract<Opening, { kind: 'unopened' }>): Quarantined {
  const isUnsure = cheated.length === 0 && unsure.length > 0;
  const why = isUnsure
    ? 'a self seed does not open: its device cheated, or one of the authorities did'
    : 'a seed is not the one its owner committed to';
  return { kind: 'quarantine', why, slots: cheated, ...(isUnsure && { isUnsure }) };
}

function headerOf({ slots }: SecureBuffer, slot: number): UploadHeader {
  const header = slots[slot]?.header;
  if (header === undefined) throw new Error(`slot ${slot} has no upload`);
  return header;
}

async function partsOf(blobs: BlobStore, key: string, layout: UploadLayout): Promise<SealedParts> {
  const { vectorBytes, backups, sealedBytes } = layout;
  const bytes = (1 + backups) * sealedBytes;
  const tail = await collect(blobs.read(key, vectorBytes, vectorBytes + bytes), bytes);
  return readSealedParts(tail, { ...layout, vectorBytes: 0 });
}
