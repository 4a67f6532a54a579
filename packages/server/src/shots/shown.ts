/** Uploads as they are shown to authorities: without their vectors, with the epochs that they name. */
import { elementBits, toHex, unpackVector } from '@basa/masking';
import {
  distinctEpochs,
  type Epoch,
  GUARD_WORDS,
  guardWordsOf,
  type ShownUpload,
  shotLayout,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { type BlobStore, collect } from '../blobs/blob-store.ts';
import type { StoredShot } from '../store/shots.ts';
import type { Epochs } from './epochs.ts';
import { shotKey } from './intake.ts';

export interface ShownTools {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly blobs: BlobStore;
  readonly epochs: Epochs;
}

/** The epochs that these uploads name, each once. */
export async function epochsOf({ epochs }: ShownTools, shots: readonly StoredShot[]): Promise<readonly Epoch[]> {
  const headers = shots.map(({ upload }) => upload.header);
  const named = headers.flatMap((header) => header.epochs.map(({ statement }) => statement));
  const known = await epochs.named(named);
  return distinctEpochs({ epoch: (statement) => known.get(toHex(statement)) }, headers);
}

export function shownUploads(tools: ShownTools, shots: readonly StoredShot[]): Promise<readonly ShownUpload[]> {
  return Promise.all(shots.map((shot) => shownUpload(tools, shot)));
}

async function shownUpload({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<ShownUpload> {
  const { vectorBytes, partsBytes, bodyBytes } = shotLayout(policy, upload.header.epochs);
  const key = shotKey(policy, name, upload);
  const { certificate, header } = upload;
  return { certificate, header, sealed: await collect(blobs.read(key, vectorBytes, bodyBytes), partsBytes) };
}

/** This many elements always end at a byte boundary. */
const WHOLE_BYTES = 8;

/** The guard words of y, at its start and at its end. */
export async function guardWords({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<Uint32Array> {
  const { modulus } = policy;
  const { elements, vectorBytes } = shotLayout(policy, upload.header.epochs);
  const key = shotKey(policy, name, upload);
  const read = async (from: number, to: number): Promise<Uint32Array> => {
    const [start, end] = [
      (from / 8) * elementBits(modulus),
      to === elements ? vectorBytes : (to / 8) * elementBits(modulus),
    ];
    const unpacked = unpackVector(await collect(blobs.read(key, start, end), end - start), to - from, modulus);
    if (unpacked.kind === 'malformed') throw new Error(`a stored vector is damaged: ${unpacked.problem}`);
    return unpacked.vector;
  };
  const last = WHOLE_BYTES * Math.floor((elements - GUARD_WORDS / 2) / WHOLE_BYTES);
  const [first, behind] = await Promise.all([read(0, Math.min(elements, WHOLE_BYTES)), read(last, elements)]);
  return guardWordsOf(Uint32Array.of(...first, ...behind));
}
