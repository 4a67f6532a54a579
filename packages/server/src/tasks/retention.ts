/**
 * Removes data that is no longer kept, in the background and a little at a time: parameters of old versions, records of batches that ended
 * long ago, and blobs that a crash left behind. If there are several nodes, only the node with the lease of a task does this.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { toHex } from '@basa/masking';
import { startTicker, type Ticker } from '@basa/service';
import { BODIES } from '../blobs/blob-store.ts';
import { modelsOf } from '../closing/model-keeper.ts';
import type { ServerTools } from '../shots/context.ts';
import type { Fence } from '../store/sql.ts';
import type { RunningTask } from './running-task.ts';

/** The history that is kept; without a number, all of it. */
export interface Keep {
  /** The number of newest versions of each task that are kept. */
  readonly models?: number | undefined;
  /** The time for which the records of a batch are kept after its end. */
  readonly batchesMs?: number | undefined;
}

export interface RetentionTools extends Pick<ServerTools, 'store' | 'blobs' | 'nodes' | 'onTrouble'> {
  readonly keep: Keep;
  readonly tidyMs: number;
  readonly tasks: { readonly all: readonly RunningTask[] };
}

const MODELS_AT_ONCE = 10;
const BATCHES_AT_ONCE = 20;
/** The time for which a device can ask for the status of an upload that was in no batch. */
const KEPT_FATES_MS = 30 * 86_400_000;
/** Lets requests in between two batches. */
const PAUSE_MS = 20;
/** Leftovers of crashes are looked for at every 60th look. */
const LOOKS_FOR_LEFTOVERS = 60;

export function startRetention(tools: RetentionTools): Ticker {
  const { tasks, nodes, tidyMs, onTrouble } = tools;
  let isStopped = false;
  let looks = 0;
  const look = async (): Promise<void> => {
    const hasLeftovers = looks++ % LOOKS_FOR_LEFTOVERS === 0;
    if (hasLeftovers) await removeBodies(tools);
    for (const task of tasks.all) {
      if (isStopped) return;
      await nodes.leases.under(task.task, async (fence) => {
        await repeated(() => forgetModels(tools, task, fence));
        await repeated(() => forgetBatches(tools, task, fence));
        if (hasLeftovers) await removeLeftovers(tools, task);
        if (hasLeftovers)
          await task.mode.shots?.tidy((await tools.store.now()) - (tools.keep.batchesMs ?? KEPT_FATES_MS));
      });
    }
  };
  const repeated = async (batch: () => Promise<boolean>): Promise<void> => {
    while (!isStopped && (await batch())) await pause(PAUSE_MS);
  };
  const ticker = startTicker(tidyMs, look, (error) => onTrouble('old data could not be removed', error));
  return {
    stop() {
      isStopped = true;
      return ticker.stop();
    },
  };
}

/** Marks first, so that a blob that a crash leaves then is a leftover. Returns true if there may be more. */
async function forgetModels(
  { keep, store, blobs }: RetentionTools,
  task: RunningTask,
  fence: Fence | undefined,
): Promise<boolean> {
  const { newest } = task.models;
  if (keep.models === undefined || newest === undefined) return false;
  const inUse = (await store.openBatches(task.task)).map(({ version }) => version);
  const firstKept = Math.min(newest.version - keep.models + 1, ...inUse);
  const old = await store.keptModels(task.task, { before: firstKept, limit: MODELS_AT_ONCE });
  if (old.length === 0) return false;
  await store.forgetModels(
    task.task,
    old.map(({ version }) => version),
    fence,
  );
  for (const { blobKey, stepKey } of old) {
    await blobs.remove(blobKey);
    if (stepKey !== undefined) await blobs.remove(stepKey);
  }
  return old.length === MODELS_AT_ONCE;
}

async function forgetBatches(
  { keep, store }: RetentionTools,
  { task }: RunningTask,
  fence: Fence | undefined,
): Promise<boolean> {
  if (keep.batchesMs === undefined) return false;
  const madeBefore = (await store.now()) - keep.batchesMs;
  return (await store.forgetBatches(task, { madeBefore, limit: BATCHES_AT_ONCE }, fence)) === BATCHES_AT_ONCE;
}

/**
 * Removes bodies of sums that ended just before the process stopped. A batch, or an upload without a batch, is stored before its bodies.
 * Therefore bodies without a live batch belong to a batch that has ended.
 */
export async function removeBodies({ blobs, store }: Pick<ServerTools, 'blobs' | 'store'>): Promise<void> {
  const names = await blobs.namesBelow(BODIES);
  const living = new Set([...(await store.openBatchNames()), ...(await store.shotsWithBodies())].map(toHex));
  for (const name of names) if (!living.has(name)) await blobs.removeBelow(`${BODIES}/${name}`);
}

/** Blobs of versions up to the newest that belong to no version: later ones may be in the making. */
async function removeLeftovers({ store, blobs }: RetentionTools, { task, models }: RunningTask): Promise<void> {
  const { newest } = models;
  if (newest === undefined) return;
  const folder = modelsOf(task);
  const names = await blobs.namesBelow(folder);
  const kept = new Set(await store.modelBlobs(task));
  for (const name of names) {
    const version = Number.parseInt(name, 10);
    if (version <= newest.version && !kept.has(`${folder}/${name}`)) await blobs.removeBelow(`${folder}/${name}`);
  }
}
