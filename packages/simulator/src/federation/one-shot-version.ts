/** The versions of a one-shot federation: made from the batches that were opened since the last one, by the rule of the real server. */
import { isRefused, type ModelEntry, modelEntryCodec, nextVersion, type Refused, versionRule } from '@basa/protocol';
import type { StoredBatch } from './one-shot-store.ts';
import { type ClosingStore, present } from './one-shot-world.ts';

/** The members of a version are on disk before it is logged, so the same version is logged again after a crash. */
export function makeVersion(server: ClosingStore, isLast: boolean): void {
  const { version } = server.world.server.entry();
  settle(server, version);
  const begun = [...server.batches.values()].filter((batch) => batch.version === version + 1);
  const members = begun.length > 0 ? begun : begin(server, isLast, version + 1);
  if (members.length === 0) return;
  if (isRefused(log(server, members, version + 1))) reopen(server, members);
  else settle(server, version + 1);
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
  const next = nextVersion(versionRule(server.world.policy), waiting, isLast);
  if (next === undefined || next.sums.length === 0) return [];
  return server.keepBatches([...next.sums, ...next.spoilt].map(({ batch }) => ({ ...batch, version })));
}

/** The good batches of a version that is logged are included. */
function settle(server: ClosingStore, version: number): void {
  const open = [...server.batches.values()].filter((batch) => batch.version === version && batch.end === undefined);
  if (open.length > 0) server.keepBatches(open.map((batch) => ({ ...batch, end: 'included' })));
}

/** An authority lost its memory of one of them: opening that batch again reports it. */
function reopen(server: ClosingStore, members: readonly StoredBatch[]): void {
  server.keepBatches(members.map((batch) => ({ ...batch, opened: undefined, version: undefined })));
}

function log(server: ClosingStore, members: readonly StoredBatch[], version: number): ModelEntry | Refused {
  const { world, view } = server;
  // An authority that was away or restored does not know the newest version.
  const newest = modelEntryCodec.encode(world.server.entry());
  for (const { base } of present(server)) world.call('adopt', () => base.adoptModel(newest));
  const { task } = world;
  const named = (kind: StoredBatch['opened']) => members.filter(({ opened }) => opened === kind).map(({ ctx }) => ctx);
  const modelHash = view.suite.sha256(world.server.modelBytes(version));
  const closed = members.map(({ ctx, votes }) => ({ task, ctx, endorsements: votes }));
  return world.server.tryLogModel({ task, version, modelHash, sums: named('good'), spoilt: named('spoilt'), closed });
}
