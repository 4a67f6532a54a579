/** The versions of a model, and the windows of a statistics task, with their sums. */
import { equalBytes, type Suite, toHex } from '@basa/masking';
import type { Ctx, TaskId } from '@basa/protocol';
import { Live } from '@basa/protocol/http';
import type { WindowSums } from '@basa/protocol/policy';
import { modelNameOf } from '@basa/protocol/wire';
import { column, type Row, type SqlDatabase, type SqlSession } from '@basa/service';
import { checkFence, type Fence, insertRows } from './sql.ts';
import { OPEN } from './tasks.ts';

export interface StoredModel extends Live.VersionScores {
  readonly task: TaskId;
  readonly version: number;
  /** Higher than that of the version before, and at least the time in seconds. */
  readonly serial: number;
  /** The hash of its statement: uploads name it. */
  readonly name: Uint8Array;
  readonly modelHash: Uint8Array;
  /** The blobs of the parameters, and of the memory of the server's step after it, if any. */
  readonly blobKey: string;
  readonly stepKey?: string | undefined;
  /** Neither is kept any more. */
  readonly isForgotten?: boolean;
  readonly madeAt: number;
  readonly accepted: number;
  readonly dropped: number;
  /** The mean age of its updates in versions when they were applied; missing for version 0 and in paper mode. */
  readonly meanAge?: number | undefined;
  /** Means over its devices of the metrics that the task names. */
  readonly metrics?: Readonly<Record<string, number>> | undefined;
  readonly loss?: number | undefined;
}

/** A version before it has its serial. */
export type FreshModel = Omit<StoredModel, 'serial' | 'name' | 'isForgotten' | keyof Live.VersionScores | 'loss'>;

/** The sums in a version, and the sums that it leaves out. */
export interface SumsOfVersion {
  readonly sums: readonly Ctx[];
  readonly spoilt: readonly Ctx[];
}

const OF_SUM =
  'SELECT m.* FROM models m JOIN model_sums s ON s.task = m.task AND s.version = m.version WHERE s.ctx = ?';
const NEWEST = 'SELECT * FROM models WHERE task = ? ORDER BY version DESC LIMIT 1';
const STORED = `SELECT COUNT(*) AS models, COUNT(step_key) AS steps,
  (SELECT COUNT(*) FROM shots WHERE task = ? AND status IN ('arriving', 'waiting', 'good')) AS waiting,
  (SELECT COUNT(*) FROM shots WHERE ctx IN (SELECT ctx FROM batches WHERE task = ? AND status IN ${OPEN})) AS batched
  FROM models WHERE task = ? AND forgotten = 0`;

/** The versions of a model, with their sums. */
export function modelTables(database: SqlDatabase) {
  return {
    /** Returns the stored version. The same model again changes nothing; another one of its version or sums is refused. */
    addModel: (suite: Suite, model: FreshModel, named: SumsOfVersion, fence?: Fence): Promise<StoredModel> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        return insertModel(suite, session, model, named);
      }),
    model: async (task: TaskId, version: number): Promise<StoredModel | undefined> =>
      (await database.query('SELECT * FROM models WHERE task = ? AND version = ?', task, version)).map(readModel)[0],
    /** By the hash of its statement. */
    modelNamed: async (task: TaskId, name: Uint8Array): Promise<StoredModel | undefined> =>
      (await database.query('SELECT * FROM models WHERE task = ? AND name = ?', task, name)).map(readModel)[0],
    /** The version that includes the sum, or leaves it out. */
    modelOf: async (ctx: Ctx): Promise<StoredModel | undefined> =>
      (await database.query(OF_SUM, ctx)).map(readModel)[0],
    /** From this version on. */
    sumsOf: async (task: TaskId, from = 0): Promise<ReadonlyMap<number, SumsOfVersion>> => {
      const sums = 'SELECT * FROM model_sums WHERE task = ? AND version >= ? ORDER BY version, ctx';
      return grouped(await database.query(sums, task, from));
    },
    newestModel: async (task: TaskId): Promise<StoredModel | undefined> =>
      (await database.query(NEWEST, task)).map(readModel)[0],
    /** From this version on. */
    models: async (task: TaskId, from = 0): Promise<readonly StoredModel[]> => {
      const models = 'SELECT * FROM models WHERE task = ? AND version >= ? ORDER BY version';
      return (await database.query(models, task, from)).map(readModel);
    },
    /** Versions before this one whose parameters are kept, the oldest first. */
    keptModels: async (
      task: TaskId,
      { before, limit }: { readonly before: number; readonly limit: number },
    ): Promise<readonly StoredModel[]> => {
      const old = 'SELECT * FROM models WHERE task = ? AND version < ? AND forgotten = 0 ORDER BY version LIMIT ?';
      return (await database.query(old, task, before, limit)).map(readModel);
    },
    /** From now on the parameters of these versions are not kept; the facts about them stay. */
    forgetModels: (task: TaskId, versions: readonly number[], fence?: Fence): Promise<void> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        const forget = 'UPDATE models SET forgotten = 1 WHERE task = ? AND version = ?';
        for (const version of versions) await session.query(forget, task, version);
      }),
    /** The numbers of kept models, of their steps, and of uploads that are in no version yet. */
    storedVectors: async (task: TaskId): Promise<{ models: number; steps: number; shots: number }> => {
      const [row] = await database.query(STORED, task, task, task);
      const count = (name: string): number => column.number(row as Row, name);
      return { models: count('models'), steps: count('steps'), shots: count('waiting') + count('batched') };
    },
    /** The names of all blobs of versions. */
    modelBlobs: async (task: TaskId): Promise<readonly string[]> => {
      const rows = await database.query('SELECT blob_key, step_key FROM models WHERE task = ? AND forgotten = 0', task);
      return rows.flatMap((row) => [
        column.text(row, 'blob_key'),
        ...[column.optional(row, 'step_key', column.text)].filter((key) => key !== undefined),
      ]);
    },
    async setEvaluation(
      task: TaskId,
      version: number,
      { accuracy, r2, loss }: Live.Scores & { readonly loss: number },
    ): Promise<void> {
      const statement = 'UPDATE models SET accuracy = ?, r2 = ?, loss = ? WHERE task = ? AND version = ?';
      await database.query(statement, accuracy ?? null, r2 ?? null, loss, task, version);
    },
    /** Replaces the operator's score of a version. */
    async setOperatorScore(task: TaskId, version: number, score: Live.OperatorScore): Promise<void> {
      const statement = 'UPDATE models SET evaluation = ? WHERE task = ? AND version = ?';
      await database.query(statement, JSON.stringify(score), task, version);
    },
  };
}

async function insertModel(
  suite: Suite,
  session: SqlSession,
  model: FreshModel,
  { sums, spoilt }: SumsOfVersion,
): Promise<StoredModel> {
  const { query } = session;
  const { task, version, modelHash, blobKey, stepKey, madeAt, accepted, dropped, meanAge, metrics } = model;
  const [last] = (await query(NEWEST, task)).map(readModel);
  const serial = Math.max((last?.serial ?? -1) + 1, Math.floor(madeAt / 1000));
  await query(
    `INSERT INTO models
      (task, version, serial, name, model_hash, blob_key, step_key, made_at, accepted, dropped, mean_age, metrics)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    task,
    version,
    serial,
    modelNameOf(suite, { task, version, serial, modelHash }),
    modelHash,
    blobKey,
    stepKey ?? null,
    madeAt,
    accepted,
    dropped,
    meanAge ?? null,
    metrics === undefined ? null : JSON.stringify(metrics),
  );
  const rows = [...sums.map((ctx) => [ctx, task, version, 0]), ...spoilt.map((ctx) => [ctx, task, version, 1])];
  await insertRows(session, 'model_sums (ctx, task, version, spoilt)', rows, ' ON CONFLICT DO NOTHING');
  const [found] = (await query('SELECT * FROM models WHERE task = ? AND version = ?', task, version)).map(readModel);
  const named = await query('SELECT ctx, spoilt FROM model_sums WHERE task = ? AND version = ?', task, version);
  const isSame = found !== undefined && equalBytes(found.modelHash, modelHash) && isSameSums(named, { sums, spoilt });
  if (!isSame) throw new Error(`there is another version ${version}, or another version of one of its sums`);
  return found;
}

function isSameSums(rows: readonly Row[], { sums, spoilt }: SumsOfVersion): boolean {
  const nameOf = (ctx: Ctx, isSpoilt: boolean): string => `${toHex(ctx)} ${isSpoilt}`;
  const found = new Set(rows.map((row) => nameOf(readCtx(row), column.number(row, 'spoilt') === 1)));
  const asked = [...sums.map((ctx) => nameOf(ctx, false)), ...spoilt.map((ctx) => nameOf(ctx, true))];
  return found.size === asked.length && asked.every((name) => found.has(name));
}

function grouped(rows: readonly Row[]): ReadonlyMap<number, SumsOfVersion> {
  const found = new Map<number, { readonly sums: Ctx[]; readonly spoilt: Ctx[] }>();
  for (const row of rows) {
    const version = column.number(row, 'version');
    const own = found.get(version) ?? { sums: [], spoilt: [] };
    (column.number(row, 'spoilt') === 1 ? own.spoilt : own.sums).push(readCtx(row));
    found.set(version, own);
  }
  return found;
}

function readCtx(row: Row): Ctx {
  return column.bytes(row, 'ctx') as Ctx;
}

function readModel(row: Row): StoredModel {
  const metrics = column.optional(row, 'metrics', column.text);
  const evaluation = column.optional(row, 'evaluation', column.text);
  return {
    task: column.bytes(row, 'task') as TaskId,
    version: column.number(row, 'version'),
    serial: column.number(row, 'serial'),
    name: column.bytes(row, 'name'),
    modelHash: column.bytes(row, 'model_hash'),
    blobKey: column.text(row, 'blob_key'),
    stepKey: column.optional(row, 'step_key', column.text),
    isForgotten: column.number(row, 'forgotten') === 1,
    madeAt: column.number(row, 'made_at'),
    accepted: column.number(row, 'accepted'),
    dropped: column.number(row, 'dropped'),
    meanAge: column.optional(row, 'mean_age', column.number),
    metrics: metrics === undefined ? undefined : (JSON.parse(metrics) as Record<string, number>),
    ...Live.scoresIn(Object.fromEntries(Live.SCORES.map((name) => [name, column.optional(row, name, column.number)]))),
    ...(evaluation !== undefined && { evaluation: JSON.parse(evaluation) as Live.OperatorScore }),
    loss: column.optional(row, 'loss', column.number),
  };
}

export interface WindowSum {
  readonly ctx: Ctx;
  readonly task: TaskId;
  readonly window: number;
  readonly devices: number;
  readonly sums: readonly number[];
}

const ADD = `INSERT INTO window_sums (ctx, task, version, devices, sums) VALUES (?, ?, ?, ?, ?) ON CONFLICT (ctx) DO NOTHING`;
const LOST = `SELECT s.version, COUNT(*) AS number FROM shots s LEFT JOIN batches b ON b.ctx = s.ctx
  WHERE s.task = ? AND s.version >= ? AND (s.status IN ('refused', 'over') OR b.status IN ('unknown', 'quarantined'))
  GROUP BY s.version`;

/** The sums of the windows of a statistics task: each batch adds its own once. */
export function statisticsTables(database: SqlDatabase) {
  return {
    /** The same sum again changes nothing. */
    addWindowSum: ({ ctx, task, window, devices, sums }: WindowSum, fence?: Fence): Promise<void> =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        await session.query(ADD, ctx, task, window, devices, JSON.stringify(sums));
      }),
    /** The window of a sum. */
    windowOf: async (ctx: Ctx): Promise<number | undefined> => {
      const [row] = await database.query('SELECT version FROM window_sums WHERE ctx = ?', ctx);
      return row && column.number(row, 'version');
    },
    /** The newest window with a sum. */
    lastWindow: async (task: TaskId): Promise<number | undefined> => {
      const newest = 'SELECT version FROM window_sums WHERE task = ? ORDER BY version DESC LIMIT 1';
      const [row] = await database.query(newest, task);
      return row && column.number(row, 'version');
    },
    /** Over all batches of each window from this one on. */
    windowSums: async (task: TaskId, from: number): Promise<ReadonlyMap<number, WindowSums>> => {
      const all = new Map<number, WindowSums>();
      const rows = await database.query('SELECT * FROM window_sums WHERE task = ? AND version >= ?', task, from);
      for (const row of rows) {
        const [window, devices] = [column.number(row, 'version'), column.number(row, 'devices')];
        const sums = JSON.parse(column.text(row, 'sums')) as readonly number[];
        const before = all.get(window) ?? { devices: 0, batches: 0, sums: sums.map(() => 0) };
        all.set(window, {
          devices: before.devices + devices,
          batches: before.batches + 1,
          sums: sums.map((sum, n) => sum + (before.sums[n] as number)),
        });
      }
      return all;
    },
    /** The reports of each window from this one on that are in no sum, and will be in none. */
    lostReports: async (task: TaskId, from: number): Promise<ReadonlyMap<number, number>> => {
      const rows = await database.query(LOST, task, from);
      return new Map(rows.map((row) => [column.number(row, 'version'), column.number(row, 'number')]));
    },
  };
}
