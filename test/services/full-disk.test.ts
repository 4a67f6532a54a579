/** A disk that is full: told so, with nothing changed, and taken up again when there is space. */
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { defineModel, dense, encodeDataset, manifestText } from '@basa/learning';
import { ascii, toHex } from '@basa/masking';
import { SERVER_PATH } from '@basa/protocol/http';
import { hashOf, holdUpload, send } from '@basa/testkit/services/held-upload.ts';
import { snapshot } from '@basa/testkit/services/snapshot.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

/** A file of Linux that takes no byte: ENOSPC, as on a full disk. */
const FULL = '/dev/full';

let services: TestServices;
beforeAll(async () => {
  services = await TestServices.open({ server: { tickMs: 3_600_000 } });
});
afterAll(() => services.close());

it.runIf(existsSync(FULL))('a piece of an upload is answered with storage-full, and can be sent again', async () => {
  const upload = await holdUpload(services, 0);
  const { body, name } = upload;
  await send(services, upload, { method: 'HEAD' }); // from now on it is expected
  const before = snapshot(services);
  await send(services, upload, { body: body.subarray(0, 60) });
  const folder = join(services.folder, 'server', 'blobs', 'incoming', 'uploads', name);
  const [staged = ''] = readdirSync(folder);
  rmSync(join(folder, staged));
  symlinkSync(FULL, join(folder, staged));
  expect(await send(services, upload)).toMatchObject({ status: 507, code: 'storage-full' });
  expect(snapshot(services)).toEqual(before);
  expect((await send(services, upload, { method: 'HEAD' })).offset).toBe(0);
  expect((await send(services, upload)).answer).toMatchObject({ accepted: true });
});

it.runIf(existsSync(FULL))('a set of examples that does not fit leaves the one there was', async () => {
  const model = defineModel('tiny', { height: 1, width: 1, channels: 2 }, [dense(2)]);
  const { dimension, input } = model;
  const manifestHash = hashOf(ascii(manifestText(model)));
  const layers = model.layers.map(({ layer }) => layer);
  await services.createTask({ dimension, manifestHash }, { model: { name: 'tiny', input, layers } });
  const inputs = Float32Array.of(1, 0, 0, 1);
  const bytes = encodeDataset({ name: 'two', shape: input, classes: 2, inputs, labels: Uint8Array.of(0, 1) });
  const folder = join(services.folder, 'server', 'blobs', 'incoming', 'evaluation', services.task);
  mkdirSync(folder, { recursive: true });
  symlinkSync(FULL, join(folder, toHex(hashOf(bytes)).slice(0, 32)));
  const put = () => services.operate(services.server.url, 'PUT', SERVER_PATH.evaluationSet(services.task), bytes);
  const before = snapshot(services);
  await expect(put()).rejects.toThrow('507');
  expect(snapshot(services)).toEqual(before);
  expect(await put()).toEqual({ samples: 2 });
});
