/** The model in the data folder of a stopped server, of this version or of 0.2: all that is safe to take along from older data. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import { column, type Row, readOlderDatabase, StartError } from '@basa/service';
import { checkedKey } from '../blobs/blob-store.ts';
import { EMBEDDED_DATABASE } from '../store/schema.ts';

/** That of 0.2.0. */
const OLDEST_FORMAT = 9;

export interface SavedModel {
  readonly task: string;
  readonly version: number;
  /** The specification of its task, as that version wrote it. */
  readonly specification: unknown;
  readonly parameters: Float32Array;
}

/** `task`: its first digits. The newest version that was logged, unless another one is named. */
export async function readSavedModel(folder: string, wanted: { task?: string; version?: number }): Promise<SavedModel> {
  const { db, close } = readOlderDatabase(folder, { ...EMBEDDED_DATABASE, oldest: OLDEST_FORMAT });
  try {
    const rows = db
      .prepare(
        `SELECT models.task, version, model_hash, blob_key, specification FROM models JOIN tasks ON tasks.task = models.task
         WHERE entry IS NOT NULL ORDER BY version DESC`,
      )
      .all() as unknown as readonly Row[];
    const row = chosen(folder, rows, wanted);
    const { version, task } = versionOf(row);
    const bytes = await readFile(join(folder, 'blobs', checkedKey(column.text(row, 'blob_key')))).catch(
      () => undefined,
    );
    if (bytes === undefined) throw noModel(folder, `the parameters of version ${version} were deleted`);
    if (createHash('sha256').update(bytes).digest('hex') !== toHex(column.bytes(row, 'model_hash')))
      throw noModel(folder, `the parameters of version ${version} are damaged`);
    const parameters = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
    return { task, version, specification: JSON.parse(column.text(row, 'specification')), parameters };
  } finally {
    close();
  }
}

function versionOf(row: Row): { readonly task: string; readonly version: number } {
  return { task: toHex(column.bytes(row, 'task')), version: column.number(row, 'version') };
}

function chosen(
  folder: string,
  rows: readonly Row[],
  { task = '', version }: { task?: string; version?: number },
): Row {
  const found = rows.filter((row) => versionOf(row).task.startsWith(task));
  const tasks = new Set(found.map((row) => versionOf(row).task));
  if (tasks.size > 1)
    throw noModel(folder, `it has several tasks; add --task with the first digits of one of ${[...tasks].join(', ')}`);
  const row = version === undefined ? found[0] : found.find((one) => versionOf(one).version === version);
  if (row === undefined) throw noModel(folder, 'it does not have this version of this task');
  return row;
}

function noModel(folder: string, why: string): StartError {
  return new StartError('dataFolder', `no model can be read from ${folder}: ${why}`);
}
