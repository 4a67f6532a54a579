/** The store over SQL. The buffer's row is locked first and read afterwards, so that two nodes never take one slot. */
import { equalBytes } from '@basa/masking';
import type { BufferFact, Ctx, TaskId } from '@basa/protocol';
import { decodeBufferRecord, descriptorCodec, encodeBufferRecord, modelEntryCodec } from '@basa/protocol';
import type { Row, SqlDatabase, SqlSession, SqlValue } from '@basa/service';
import { column } from '@basa/service';
import type { BufferChange, Store, StoredBuffer, StoredModel, StoredTask, TaskState } from './store.ts';
import { isEnded } from './store.ts';

export function createSqlStore(database: SqlDatabase): Store {
  const one = (statement: string, ...values: readonly SqlValue[]): Promise<readonly Row[]> =>
    database.transaction((session) => session.query(statement, ...values));
  const run = async (statement: string, ...values: readonly SqlValue[]): Promise<void> => {
    await one(statement, ...values);
  };
  return {
    addTask: ({ task, specification, state, createdAt }) =>
      run(
        'INSERT INTO tasks (task, specification, state, created_at) VALUES (?, ?, ?, ?)',
        task,
        specification,
        state,
        createdAt,
      ),
    tasks: async () => (await one('SELECT * FROM tasks ORDER BY created_at, task')).map(readTask),
    setTaskState: (task, state, why) =>
      run('UPDATE tasks SET state = ?, why = ? WHERE task = ?', state, why ?? null, task),

    addBuffer: ({ ctx, task, descriptor, drawnAt }) =>
      run(
        `INSERT INTO buffers (ctx, task, descriptor, status, last_record, drawn_at) VALUES (?, ?, ?, 'filling', 0, ?)
          ON CONFLICT (ctx) DO NOTHING`,
        ctx,
        task,
        descriptorCodec.encode(descriptor),
        drawnAt,
      ),
    buffer: async (ctx) => (await one('SELECT * FROM buffers WHERE ctx = ?', ctx)).map(readBuffer)[0],
    livingBuffers: async () =>
      (await one(`SELECT * FROM buffers WHERE status IN ('filling', 'frozen', 'granted') ORDER BY drawn_at, ctx`)).map(
        readBuffer,
      ),
    advance: (ctx, known, step) =>
      database.transaction(async (session) => {
        const locked = `SELECT last_record FROM buffers WHERE ctx = ?${database.dialect.forUpdate}`;
        const [row] = await session.query(locked, ctx);
        if (row === undefined) throw new Error('no such buffer in the store');
        const last = column.number(row, 'last_record');
        const { change, result } = step(await factsAfter(session, ctx, known, last));
        if (change === undefined) return { result, number: last };
        return { result, number: await writeChange(session, ctx, last, change) };
      }),
    inbox: async (ctx, slot) =>
      (await one('SELECT entry FROM inboxes WHERE ctx = ? AND to_slot = ? ORDER BY from_slot', ctx, slot)).map((row) =>
        column.bytes(row, 'entry'),
      ),
    deposits: async (ctx) =>
      (await one('SELECT deposit FROM deposits WHERE ctx = ? ORDER BY slot', ctx)).map((row) =>
        column.bytes(row, 'deposit'),
      ),

    piece: async (ctx, slot) =>
      (await one('SELECT body_hash, received FROM pieces WHERE ctx = ? AND slot = ?', ctx, slot)).map((row) => ({
        bodyHash: column.bytes(row, 'body_hash'),
        received: column.number(row, 'received'),
      }))[0],
    setPiece: (ctx, slot, { bodyHash, received }) =>
      run(
        `INSERT INTO pieces (ctx, slot, body_hash, received) VALUES (?, ?, ?, ?)
          ON CONFLICT (ctx, slot) DO UPDATE SET body_hash = excluded.body_hash, received = excluded.received`,
        ctx,
        slot,
        bodyHash,
        received,
      ),
    burntSince: async (user, since) => {
      const [row] = await one('SELECT COUNT(*) AS burnt FROM burnt_slots WHERE usr = ? AND at >= ?', user, since);
      return row === undefined ? 0 : column.number(row, 'burnt');
    },
    forgetBurnt: (before) => run('DELETE FROM burnt_slots WHERE at < ?', before),

    addModel: (model) => run(...insertModel(model)),
    logFirstModel: (entry) => database.transaction((session) => logModel(session, entry)),
    model: async (task, version) =>
      (await one('SELECT * FROM models WHERE task = ? AND version = ?', task, version)).map(readModel)[0],
    modelOf: async (ctx) => (await one('SELECT * FROM models WHERE ctx = ?', ctx)).map(readModel)[0],
    newestModel: async (task, which) => {
      const logged = which === 'logged' ? 'AND entry IS NOT NULL' : '';
      const newest = `SELECT * FROM models WHERE task = ? ${logged} ORDER BY version DESC LIMIT 1`;
      return (await one(newest, task)).map(readModel)[0];
    },
    models: async (task) => (await one('SELECT * FROM models WHERE task = ? ORDER BY version', task)).map(readModel),
    setEvaluation: (task, version, { accuracy, loss }) =>
      run('UPDATE models SET accuracy = ?, loss = ? WHERE task = ? AND version = ?', accuracy, loss, task, version),

    note: async (name) =>
      (await one('SELECT value FROM meta WHERE name = ?', name)).map((row) => column.bytes(row, 'value'))[0],
    setNote: (name, value) =>
      run(
        'INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
        name,
        value,
      ),
    close: () => database.close(),
  };
}

async function factsAfter(session: SqlSession, ctx: Ctx, known: number, last: number): Promise<readonly BufferFact[]> {
  if (known === last) return [];
  const rows = await session.query(
    'SELECT record FROM records WHERE ctx = ? AND number > ? ORDER BY number',
    ctx,
    known,
  );
  return rows.map((row) => decodeBufferRecord(column.bytes(row, 'record')));
}

async function writeChange(session: SqlSession, ctx: Ctx, last: number, change: BufferChange): Promise<number> {
  const { facts, status, deposit, logged, withoutModel, burnt } = change;
  for (const [n, fact] of facts.entries()) {
    const values = [ctx, last + 1 + n, encodeBufferRecord(fact)] as const;
    await session.query('INSERT INTO records (ctx, number, record) VALUES (?, ?, ?)', ...values);
  }
  if (deposit !== undefined) await writeDeposit(session, ctx, deposit);
  if (logged !== undefined) await logModel(session, logged);
  if (withoutModel) await session.query('DELETE FROM models WHERE ctx = ? AND entry IS NULL', ctx);
  for (const user of burnt?.users ?? []) {
    const values = [user, ctx, burnt?.at ?? 0] as const;
    await session.query('INSERT INTO burnt_slots (usr, ctx, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING', ...values);
  }
  if (isEnded(status))
    for (const table of ['deposits', 'inboxes', 'pieces'])
      await session.query(`DELETE FROM ${table} WHERE ctx = ?`, ctx);
  const number = last + facts.length;
  await session.query('UPDATE buffers SET status = ?, last_record = ? WHERE ctx = ?', status, number, ctx);
  return number;
}

async function writeDeposit(
  session: SqlSession,
  ctx: Ctx,
  { slot, bytes, outbox }: NonNullable<BufferChange['deposit']>,
): Promise<void> {
  await session.query('INSERT INTO deposits (ctx, slot, deposit) VALUES (?, ?, ?)', ctx, slot, bytes);
  for (const [n, entry] of outbox.entries()) {
    const values = [ctx, slot + 1 + n, slot, entry] as const;
    await session.query('INSERT INTO inboxes (ctx, to_slot, from_slot, entry) VALUES (?, ?, ?, ?)', ...values);
  }
}

async function logModel(session: SqlSession, entry: Parameters<Store['logFirstModel']>[0]): Promise<void> {
  const [row] = await session.query(
    'SELECT model_hash FROM models WHERE task = ? AND version = ?',
    entry.task,
    entry.version,
  );
  if (row === undefined || !equalBytes(column.bytes(row, 'model_hash'), entry.modelHash))
    throw new Error(`the logged model ${entry.version} is not the stored one`);
  const values = [modelEntryCodec.encode(entry), entry.task, entry.version] as const;
  await session.query('UPDATE models SET entry = ? WHERE task = ? AND version = ?', ...values);
}

function insertModel(model: StoredModel): [string, ...SqlValue[]] {
  const { task, version, modelHash, ctx, blobKey, stepKey, madeAt, accepted, dropped } = model;
  return [
    `INSERT INTO models (task, version, model_hash, ctx, blob_key, step_key, made_at, accepted, dropped)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    task,
    version,
    modelHash,
    ctx,
    blobKey,
    stepKey ?? null,
    madeAt,
    accepted,
    dropped,
  ];
}

function readTask(row: Row): StoredTask {
  const why = column.optional(row, 'why', column.text);
  return {
    task: column.bytes(row, 'task') as TaskId,
    specification: column.text(row, 'specification'),
    state: column.text(row, 'state') as TaskState,
    createdAt: column.number(row, 'created_at'),
    ...(why !== undefined && { why }),
  };
}

function readBuffer(row: Row): StoredBuffer {
  return {
    ctx: column.bytes(row, 'ctx') as Ctx,
    task: column.bytes(row, 'task') as TaskId,
    descriptor: descriptorCodec.decode(column.bytes(row, 'descriptor')),
    drawnAt: column.number(row, 'drawn_at'),
  };
}

function readModel(row: Row): StoredModel {
  const stepKey = column.optional(row, 'step_key', column.text);
  const entry = column.optional(row, 'entry', column.bytes);
  const accuracy = column.optional(row, 'accuracy', column.number);
  const loss = column.optional(row, 'loss', column.number);
  return {
    task: column.bytes(row, 'task') as TaskId,
    version: column.number(row, 'version'),
    modelHash: column.bytes(row, 'model_hash'),
    ctx: column.bytes(row, 'ctx') as Ctx,
    blobKey: column.text(row, 'blob_key'),
    madeAt: column.number(row, 'made_at'),
    accepted: column.number(row, 'accepted'),
    dropped: column.number(row, 'dropped'),
    ...(stepKey !== undefined && { stepKey }),
    ...(entry !== undefined && { entry: modelEntryCodec.decode(entry) }),
    ...(accuracy !== undefined && { accuracy }),
    ...(loss !== undefined && { loss }),
  };
}
