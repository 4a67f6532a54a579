/** Opens the seeds behind the masks of a share of a closed buffer's slots. */
import type { Group } from '@basa/abe';
import { engineSealing } from '@basa/abe';
import type { Suite } from '@basa/masking';
import type { SecureBuffer, StoredUpload, UploadHeader, UploadLayout } from '@basa/protocol';
import {
  decodeBufferRecord,
  descriptorCodec,
  openingTerms,
  readBackups,
  restoreSecureBuffer,
  uploadLayout,
} from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { collect } from '../../blobs/blob-store.ts';
import { messagesOf } from '../../buffers/messages.ts';
import type { OpenedTerms, OpenTermsTask } from './tasks.ts';

export interface OpenTermsTools {
  readonly suite: Suite;
  readonly group: Group;
  readonly blobs: BlobStore;
}

export async function openTerms(task: OpenTermsTask, { suite, group, blobs }: OpenTermsTools): Promise<OpenedTerms> {
  const descriptor = descriptorCodec.decode(task.descriptor);
  const buffer = restoreSecureBuffer(suite, descriptor, task.facts.map(decodeBufferRecord));
  const tools = { group, suite, randomBytes: nodeRandomBytes };
  const sealing = engineSealing(descriptor.engine, descriptor.sealingKey, tools);
  try {
    // Backups are for what dropped slots sealed: where none dropped, none are read.
    const hasDropped = buffer.slots.length > buffer.accepted.length;
    const uploads = new Map<number, StoredUpload>();
    for (const { slot, key } of task.bodies) {
      const header = headerOf(buffer, slot);
      const layout = uploadLayout(descriptor, header, sealing);
      uploads.set(slot, { header, backups: hasDropped ? await backupsOf(blobs, key, layout) : [] });
    }
    const opening = openingTerms({
      suite,
      sealing,
      buffer,
      keys: task.keys,
      deposits: task.deposits.map((bytes) => messagesOf(descriptor).deposit.decode(bytes)),
      slots: task.bodies.map(({ slot }) => slot),
      uploadOf(slot) {
        const upload = uploads.get(slot);
        if (upload === undefined) throw new Error(`the body of slot ${slot} is missing`);
        return upload;
      },
    });
    if (opening.kind === 'cheated')
      return { kind: 'quarantine', why: 'a seed is not the one its owner committed to', slots: opening.slots };
    return { kind: 'terms', terms: opening.terms.map(({ seed, sign }) => ({ seed: seed.reveal(), sign })) };
  } finally {
    sealing.destroy();
  }
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
