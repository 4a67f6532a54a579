/** The versions of a one-shot federation: made from the batches that were opened since the last one, by the rule of the real server. */
import { Sums } from '@basa/protocol/one-shot';
import type { StoredBatch } from './one-shot-store.ts';
import type { ClosingStore } from './one-shot-world.ts';

/** The members of a version are on disk before it, so the same version is made again after a crash. */
export function makeVersion(server: ClosingStore, isLast: boolean): void {
  const { server: models } = server.world;
  const { version } = models.newest;
  settle(server, version);
  const begun = [...server.batches.values()].filter((batch) => batch.version === version + 1);
  const members = begun.length > 0 ? begun : begin(server, isLast, version + 1);
  if (members.length === 0) return;
  models.add();
  settle(server, version + 1);
}

/** Batches that are all spoilt make no version here: the models of a federation have no parameters to repeat. */
function begin(server: ClosingStore, isLast: boolean, version: number): readonly StoredBatch[] {
  const waiting = [...server.batches.values()]
    .filter((batch) => batch.opened !== undefined && batch.version === undefined)
    .map((batch) => ({
      ctx: batch.ctx,
      isSpoilt: batch.opened === 'spoilt',
      updates: batch.batch.uploads.length,
      batch,
    }));
  const next = Sums.nextVersion(Sums.versionRule(server.world.policy), waiting, isLast);
  if (next === undefined || next.sums.length === 0) return [];
  return server.keepBatches([...next.sums, ...next.spoilt].map(({ batch }) => ({ ...batch, version })));
}

/** The good batches of a version that is made are included. */
function settle(server: ClosingStore, version: number): void {
  const open = [...server.batches.values()].filter((batch) => batch.version === version && batch.end === undefined);
  if (open.length > 0) server.keepBatches(open.map((batch) => ({ ...batch, end: 'included' })));
}
