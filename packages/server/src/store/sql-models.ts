/** Versions of models over SQL. */
import { equalBytes } from '@basa/masking';
import { type ModelEntry, modelEntryCodec } from '@basa/protocol';
import { column, type SqlDatabase, type SqlSession } from '@basa/service';
import { checkFence } from './fence.ts';
import type { ModelStore, StoredModel } from './model-store.ts';
import { readModel } from './rows.ts';

export function sqlModels(database: SqlDatabase): ModelStore {
  return {
    addModel: (model, fence) =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        await insertModel(session, model);
      }),
    logFirstModel: (entry) => database.transaction((session) => logModel(session, entry)),
    model: async (task, version) =>
      (await database.query('SELECT * FROM models WHERE task = ? AND version = ?', task, version)).map(readModel)[0],
    modelOf: async (ctx) => (await database.query('SELECT * FROM models WHERE ctx = ?', ctx)).map(readModel)[0],
    newestModel: async (task, which) => {
      const logged = which === 'logged' ? 'AND entry IS NOT NULL' : '';
      const newest = `SELECT * FROM models WHERE task = ? ${logged} ORDER BY version DESC LIMIT 1`;
      return (await database.query(newest, task)).map(readModel)[0];
    },
    models: async (task) =>
      (await database.query('SELECT * FROM models WHERE task = ? ORDER BY version', task)).map(readModel),
    keptModels: async (task, { before, limit }) => {
      const old = 'SELECT * FROM models WHERE task = ? AND version < ? AND forgotten = 0 ORDER BY version LIMIT ?';
      return (await database.query(old, task, before, limit)).map(readModel);
    },
    forgetModels: (task, versions, fence) =>
      database.transaction(async (session) => {
        await checkFence(database, session, fence);
        const forget = 'UPDATE models SET forgotten = 1 WHERE task = ? AND version = ?';
        for (const version of versions) await session.query(forget, task, version);
      }),
    modelBlobs: async (task) => {
      const rows = await database.query('SELECT blob_key, step_key FROM models WHERE task = ? AND forgotten = 0', task);
      return rows.flatMap((row) => [
        column.text(row, 'blob_key'),
        ...[column.optional(row, 'step_key', column.text)].filter((key) => key !== undefined),
      ]);
    },
    async setEvaluation(task, version, { accuracy, loss }) {
      const statement = 'UPDATE models SET accuracy = ?, loss = ? WHERE task = ? AND version = ?';
      await database.query(statement, accuracy, loss, task, version);
    },
  };
}

/** In the transaction of whoever asks. */
export async function logModel(session: SqlSession, entry: ModelEntry): Promise<void> {
  const { task, version, modelHash } = entry;
  const [row] = await session.query('SELECT model_hash FROM models WHERE task = ? AND version = ?', task, version);
  if (row === undefined || !equalBytes(column.bytes(row, 'model_hash'), modelHash))
    throw new Error(`the logged model ${version} is not the stored one`);
  const values = [modelEntryCodec.encode(entry), task, version] as const;
  await session.query('UPDATE models SET entry = ? WHERE task = ? AND version = ?', ...values);
}

async function insertModel({ query }: SqlSession, model: StoredModel): Promise<void> {
  const { task, version, modelHash, ctx, blobKey, stepKey, madeAt, accepted, dropped, meanAge, metrics } = model;
  await query(
    `INSERT INTO models (task, version, model_hash, ctx, blob_key, step_key, made_at, accepted, dropped, mean_age, metrics)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    task,
    version,
    modelHash,
    ctx,
    blobKey,
    stepKey ?? null,
    madeAt,
    accepted,
    dropped,
    meanAge ?? null,
    metrics === undefined ? null : JSON.stringify(metrics),
  );
  const [found] = (await query('SELECT * FROM models WHERE task = ? AND version = ?', task, version)).map(readModel);
  const isSame = found !== undefined && equalBytes(found.ctx, ctx) && equalBytes(found.modelHash, modelHash);
  if (!isSame) throw new Error(`there is another version ${version}, or another version of this buffer`);
}
