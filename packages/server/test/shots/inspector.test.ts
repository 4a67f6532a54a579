/** Uploads that nobody can decide about do not hold up those of others. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toHex } from '@basa/masking';
import {
  type Ctx,
  type JoinTag,
  millis,
  ONE_SHOT_DEFAULTS,
  type ShotUpload,
  type UserId,
  uploadNameOf,
  type Verdict,
} from '@basa/protocol';
import { nodeSuite } from '@basa/runtime/node';
import { openDatabase, SQLITE, sqliteDatabase } from '@basa/service';
import { afterAll, expect, it } from 'vitest';
import { Inspector, type InspectorOptions } from '../../src/shots/inspector.ts';
import { migrationsFor } from '../../src/store/schema.ts';
import { createStore, type Store } from '../../src/store/store.ts';
import { bytes, policy as sample, task } from '../support/store-samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'basa-inspector-'));
afterAll(() => rmSync(folder, { recursive: true }));

const policy = { ...sample, engine: 4, oneShot: ONE_SHOT_DEFAULTS };
const COLLUDERS = 1100;

function uploadOf(n: number): ShotUpload {
  const user = new Uint8Array([...bytes(2, 30), n >> 8, n & 255]);
  const certificate = { task, deviceKey: user, issuedAt: millis(1), notAfter: millis(9), endorsements: [] };
  const named = { task, joinTag: user as JoinTag, user: user as UserId, version: 0, entry: bytes(5) };
  const hashes = { bodyHash: bytes(7), partsHash: bytes(8), signature: bytes(3, 64) };
  return { certificate, header: { ...named, epochs: [{ authority: 0, statement: bytes(6) }], ...hashes } };
}

/** The first ones are older than the last. */
async function storeWith(count: number): Promise<{ readonly store: Store; readonly names: readonly Ctx[] }> {
  let now = 0;
  const options = { application: 'server', migrations: migrationsFor(SQLITE) } as const;
  const store = createStore(sqliteDatabase(openDatabase(folder, options), () => now++));
  await store.addTask({ task, policy, specification: '{}', state: 'running', createdAt: 5 });
  const uploads = Array.from({ length: count }, (_, n) => uploadOf(n));
  const names = uploads.map(({ header }) => uploadNameOf(nodeSuite, header));
  const give = async (upload: ShotUpload, n: number): Promise<void> => {
    await store.beginShot(task, names[n] as Ctx, upload, { first: 1e9, last: 1e9 });
    await store.acceptShot(task, names[n] as Ctx, upload.header.user);
  };
  await Promise.all(uploads.slice(0, -1).map(give));
  await give(uploads.at(-1) as ShotUpload, count - 1);
  return { store, names };
}

/** An authority that knows only the device of this upload, and finds that bad. */
function inspectorOf(store: Store, honest: Ctx, asked: Ctx[]): Inspector {
  const verdictOn = (upload: Ctx): Verdict =>
    toHex(upload) === toHex(honest)
      ? { upload, verdict: 'bad', reason: 'part-invalid', guards: [] }
      : { upload, verdict: 'abstain', reason: 'not-enrolled', guards: [] };
  const inspect = async ({ uploads }: { readonly uploads: readonly ShotUpload[] }) => {
    const names = uploads.map(({ header }) => uploadNameOf(nodeSuite, header));
    asked.push(...names);
    return { verdicts: names.map(verdictOn) };
  };
  const read = async function* (_: string, from: number, to: number) {
    yield new Uint8Array(to - from);
  };
  return new Inspector({
    ...{ task, policy, store, clock: () => 0, onTrouble: () => undefined },
    blobs: { read, removeBelow: async () => undefined },
    models: { stored: async () => undefined },
    standings: { epochs: async () => new Map() },
    authorities: { members: [{ authority: 0, link: { inspect } }] },
  } as unknown as InspectorOptions);
}

it('the newest upload is inspected although a thousand older uploads stay undecided, and each of these is sent once', async () => {
  const { store, names } = await storeWith(COLLUDERS + 1);
  const honest = names.at(-1) as Ctx;
  const asked: Ctx[] = [];
  const inspector = inspectorOf(store, honest, asked);
  while (await inspector.look(undefined as never));
  expect(await store.shot(task, honest)).toMatchObject({ status: 'refused', reason: 'part-invalid' });
  expect(new Set(asked.map(toHex)).size).toBe(COLLUDERS + 1);
  expect(asked).toHaveLength(COLLUDERS + 1);
  await store.close();
});
