/** Uploads as they are shown to authorities: without their vectors, with the statements that they name. */
import { elementBits, packedLength, toHex, unpackVector } from '@basa/masking';
import {
  distinctEpochs,
  GUARDS,
  type InspectRequest,
  type ModelEntry,
  type ShownUpload,
  shotLayout,
  type TaskId,
  type TaskPolicy,
} from '@basa/protocol';
import { type BlobStore, collect } from '../blobs/blob-store.ts';
import type { ModelKeeper } from '../closing/model-keeper.ts';
import type { StoredShot } from '../store/shots.ts';
import { shotKey } from './intake.ts';
import type { Standings } from './standings.ts';

export interface ShownTools {
  readonly task: TaskId;
  readonly policy: TaskPolicy;
  readonly blobs: BlobStore;
  readonly models: ModelKeeper;
  readonly standings: Standings;
}

type Statements = Pick<InspectRequest, 'epochs' | 'models'>;

/** The statements that these uploads name, each once. */
export async function statementsOf(
  { standings, models }: ShownTools,
  shots: readonly StoredShot[],
): Promise<Statements> {
  const headers = shots.map(({ upload }) => upload.header);
  const named = headers.flatMap(({ epochs }) => epochs.map(({ statement }) => statement));
  const known = await standings.epochs(named);
  const entries = new Map<number, ModelEntry>();
  for (const version of new Set(headers.map((header) => header.version))) {
    const entry = (await models.stored(version))?.entry;
    if (entry !== undefined) entries.set(version, entry);
  }
  return {
    epochs: distinctEpochs({ epoch: (statement) => known.get(toHex(statement)) }, headers),
    models: [...entries.values()],
  };
}

export function shownUploads(tools: ShownTools, shots: readonly StoredShot[]): Promise<readonly ShownUpload[]> {
  return Promise.all(shots.map((shot) => shownUpload(tools, shot)));
}

async function shownUpload({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<ShownUpload> {
  const { vectorBytes, partsBytes, bodyBytes } = shotLayout(policy, upload.header.epochs);
  const key = shotKey(policy, name, upload);
  return { ...upload, sealed: await collect(blobs.read(key, vectorBytes, bodyBytes), partsBytes) };
}

/** This many elements always end at a byte boundary. */
const WHOLE_BYTES = 8;

/** The first words of y, which inspection compares with the guard words. */
export async function firstWords({ policy, blobs }: ShownTools, { name, upload }: StoredShot): Promise<Uint32Array> {
  const { elements, vectorBytes } = shotLayout(policy, upload.header.epochs);
  const count = Math.min(elements, WHOLE_BYTES);
  const bytes = count < WHOLE_BYTES ? vectorBytes : (WHOLE_BYTES * elementBits(policy.modulus)) / 8;
  const key = shotKey(policy, name, upload);
  const packed = await collect(blobs.read(key, 0, bytes), packedLength(count, policy.modulus));
  const unpacked = unpackVector(packed, count, policy.modulus);
  if (unpacked.kind === 'malformed') throw new Error(`a stored vector is damaged: ${unpacked.problem}`);
  return unpacked.vector.slice(0, GUARDS);
}
