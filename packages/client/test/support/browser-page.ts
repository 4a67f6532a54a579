/** A page with the browser client: a second client, an abort, a resume; reports to the test that opened it. */

import { look, openDatabase, ROOM } from '../../src/web/browser-store.ts';
import { BasaClient, type DeviceStore, openBrowserStore } from '../../src/web/index.ts';

interface Settings {
  readonly server: string;
  readonly authority: string;
  readonly task: string;
  readonly authorityKey: string;
  readonly token: string;
  readonly delta: readonly number[];
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));

async function play({ delta, ...options }: Settings): Promise<object> {
  const update = Float32Array.from(delta);
  const first = await BasaClient.connect({ ...options, identity: 'phone' });
  const second = await BasaClient.connect({ ...options, identity: 'phone' }).catch(nameOf);
  const controller = new AbortController();
  first.on('progress', ({ step }) => step === 'upload' && controller.abort());
  const stopped = await first.contribute(update, { trainedOn: 0, signal: controller.signal }).catch(nameOf);
  const { deviceKey } = first;
  await first.close();

  const back = await BasaClient.connect({ ...options, identity: 'phone' });
  const { isInterrupted } = back;
  const resumed = (await back.resume())?.kind;
  const again = await back.contribute(update, { trainedOn: 0 });
  const isSameDevice = String(back.deviceKey) === String(deviceKey);
  await back.close();

  const database = await openDatabase('basa-device:phone');
  const identity = await look(database, ROOM.kept, (kept) => kept.get('identity') as IDBRequest<{ kind: string }>);
  database.close();
  const store = await openBrowserStore('phone');
  const kinds = [...new Set((await store.entries()).map((entry) => entry[2]))].sort((a, b) => Number(a) - Number(b));
  const halves = await halfWritten(store);
  await store.close();
  const older = await ofOlderVersion();
  return {
    keyKind: identity.kind,
    second,
    stopped,
    isInterrupted,
    isSameDevice,
    resumed,
    again: 'reason' in again ? again.reason : again.kind,
    kinds,
    halves,
    older,
  };
}

/** The answer to a database with the format of version 0.3. */
async function ofOlderVersion(): Promise<string> {
  const request = indexedDB.open('basa-device:older', 1);
  request.onupgradeneeded = () => request.result.createObjectStore(ROOM.journal, { autoIncrement: true });
  await new Promise((resolve) => {
    request.onsuccess = resolve;
  });
  request.result.close();
  return openBrowserStore('older').then(
    () => 'opened',
    (error: Error) => `${error.name}: ${error.message}`,
  );
}

/** Fails in the middle of a step, and reports whether the store is as it was before. */
async function halfWritten(store: DeviceStore): Promise<readonly (string | boolean)[]> {
  const before = String(await store.entries());
  const gone = new Uint8Array(8);
  structuredClone(gone.buffer, { transfer: [gone.buffer] });
  const steps = [() => store.append([new Uint8Array(3), gone]), () => store.replace([new Uint8Array(3), gone])];
  const errors: string[] = [];
  for (const step of steps) errors.push(await step().then(() => 'none', nameOf));
  return [...errors, String(await store.entries()) === before];
}

const report = await play((window as unknown as { settings: Settings }).settings).catch((error: unknown) => ({
  failed: String(error),
}));
await fetch('/report', { method: 'POST', body: JSON.stringify(report) });
