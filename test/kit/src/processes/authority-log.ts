/** Reads batches and models from the logs of the authorities, for checks from outside. */
import { ByteReader, toHex } from '@basa/masking';
import { type AuthorityRecord, batchCtxOf, decodeAuthorityRecord, epochCodec } from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';

type BatchList = Extract<AuthorityRecord, { kind: 'batch-voted' }>['list'];

/** The versions that batches were made of, by the name of the batch; of one task, if it is named. */
export function versionsOfLogs(logs: readonly Uint8Array[], task?: string): ReadonlyMap<string, number> {
  const versions = new Map<string, number>();
  for (const record of logs.flatMap((log) => [...recordsOf(log)]))
    if (record.kind === 'model-appended' && (task ?? toHex(record.entry.task)) === toHex(record.entry.task))
      for (const ctx of record.entry.sums) versions.set(toHex(ctx), record.entry.version);
  return versions;
}

/** The names of the epochs that were opened. */
export function epochsOfLogs(logs: readonly Uint8Array[]): ReadonlySet<string> {
  const records = logs.flatMap((log) => [...recordsOf(log)]);
  return new Set(
    records.flatMap((record) =>
      record.kind === 'epoch-opened' ? [toHex(epochCodec.statementHash(nodeSuite, record.epoch))] : [],
    ),
  );
}

/** A batch that an authority voted for. */
export interface LoggedBatch {
  readonly ctx: string;
  /** The hash of the entry of the model log that all of its uploads were trained on, and its version. */
  readonly entry: string;
  readonly trainedOn: number;
  /** In their order. */
  readonly uploads: readonly LoggedUpload[];
}

interface LoggedUpload {
  /** Of the upload, in hex like all of these. */
  readonly name: string;
  readonly user: string;
  readonly joinTag: string;
}

export interface LoggedBatches {
  /** The names of all uploads in batches that got a vote. */
  readonly listed: ReadonlySet<string>;
  /** Batches with enough votes, by their names. */
  readonly final: ReadonlyMap<string, LoggedBatch>;
}

/** Reads the logs of all authorities: one that was away misses some records. */
export function batchesOfLogs(logs: readonly Uint8Array[]): LoggedBatches {
  const voted = new Map<string, LoggedBatch>();
  const named = new Set<string>();
  for (const record of logs.flatMap((log) => [...recordsOf(log)])) {
    const list = record.kind === 'batch-voted' || record.kind === 'batch-final' ? record.list : undefined;
    if (list !== undefined) voted.set(toHex(batchCtxOf(nodeSuite, list.batch)), loggedBatch(list));
    if (record.kind === 'batch-final') named.add(toHex(record.ctx));
  }
  const listed = new Set([...voted.values()].flatMap(({ uploads }) => uploads.map(({ name }) => name)));
  return { listed, final: new Map([...voted].filter(([ctx]) => named.has(ctx))) };
}

function loggedBatch({ batch, entry, version, members }: BatchList): LoggedBatch {
  const uploads = members.map(({ user, joinTag }, n) => ({
    name: toHex(batch.uploads[n] ?? new Uint8Array()),
    user: toHex(user),
    joinTag: toHex(joinTag),
  }));
  return { ctx: toHex(batchCtxOf(nodeSuite, batch)), entry: toHex(entry), trainedOn: version, uploads };
}

function* recordsOf(log: Uint8Array): Generator<AuthorityRecord> {
  const reader = new ByteReader(log);
  for (let length = reader.u32('length'); length > 0; length = reader.u32('length'))
    yield decodeAuthorityRecord(reader.bytes('record', length));
}
