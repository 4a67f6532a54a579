/** Keeps opened sums until they are in a version: the mean in a blob, everything else in the store. */

import { toHex } from '@basa/masking';
import type { Ctx, SumState } from '@basa/protocol';
import { nodeRandomBytes } from '@basa/runtime/node';
import { type BlobStore, collect } from '../blobs/blob-store.ts';
import { bodiesOf } from '../blobs/body-key.ts';
import type { OpenedRow } from '../store/opened.ts';
import { type OpenedSum, SumRefused } from './opening.ts';
import { MAX_SHARD_ELEMENTS } from './shards.ts';
import { bytesOfWords, doublesOf, floatsOf } from './words.ts';

/** It is removed with everything else of its sum when the sum has ended. */
function meanKey(ctx: Ctx): string {
  return `${bodiesOf(ctx)}/mean`;
}

/** Stores the mean durably, and returns the row that the recording step writes afterwards. */
export async function storeOpened(
  blobs: BlobStore,
  { ctx, task }: Pick<SumState, 'ctx' | 'task'>,
  opened: OpenedSum,
): Promise<OpenedRow> {
  if (opened.kind === 'quarantine') return spoiltRow(task, opened);
  try {
    await storeMean(blobs, ctx, opened.shards);
  } catch (error) {
    if (error instanceof SumRefused) return spoiltRow(task, error.quarantined);
    throw error;
  }
  const { weightSum, metrics } = opened.prefix;
  return { kind: 'mean', task, weightSum, metrics };
}

function spoiltRow(task: OpenedRow['task'], { why }: Extract<OpenedSum, { kind: 'quarantine' }>): OpenedRow {
  return { kind: 'spoilt', task, why };
}

async function storeMean(
  blobs: BlobStore,
  ctx: Ctx,
  shards: AsyncIterable<Float32Array | Float64Array>,
): Promise<void> {
  const staging = await blobs.stage(meanKey(ctx), toHex(nodeRandomBytes(8)));
  try {
    for await (const shard of shards) await staging.append(bytesOfWords(shard));
    await staging.commit();
  } catch (error) {
    await staging.discard();
    throw error;
  } finally {
    await staging.close();
  }
}

/** The words of the sum of a statistics task, exactly. */
export async function statisticsSums(blobs: BlobStore, ctx: Ctx, dimension: number): Promise<Float64Array> {
  return doublesOf(await collect(blobs.read(meanKey(ctx), 0, 8 * dimension), 8 * dimension));
}

/** Yields the same part of the means of all these sums, one part after the other. */
export async function* meansOf(
  blobs: BlobStore,
  sums: readonly Ctx[],
  dimension: number,
): AsyncGenerator<readonly Float32Array[]> {
  const step = Math.max(1, Math.floor(MAX_SHARD_ELEMENTS / Math.max(1, sums.length)));
  for (let at = 0; at < dimension; at += step) {
    const end = Math.min(dimension, at + step);
    const read = (ctx: Ctx): Promise<Uint8Array> => collect(blobs.read(meanKey(ctx), 4 * at, 4 * end), 4 * (end - at));
    yield (await Promise.all(sums.map(read))).map(floatsOf);
  }
}
