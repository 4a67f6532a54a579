/** No answer of a device depends on its data: whatever models a server shows, every device sends the same requests. */
import type { Outside } from '@basa/client/node';
import { allSamples, createReferenceBackend, createTrainer, type Dataset, defineModel, dense } from '@basa/learning';
import { applyMasksInPlace, toHex } from '@basa/masking';
import { HEADER, SERVER_PATH } from '@basa/protocol/http';
import { ModelStatement, ShownModel } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { nodeTools } from '@basa/simulator/virtual-time';
import { World } from '@basa/testkit/world/world.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const DEVICES = 40;
const EXAMPLES = 16;
const { masks: tools } = nodeTools();
const model = defineModel('tiny', { height: 1, width: 1, channels: 4 }, [dense(8)]);
const data: Dataset = {
  name: 'tiny',
  shape: model.input,
  classes: 8,
  inputs: Float32Array.from({ length: 4 * EXAMPLES }, (_, n) => Math.cos(n)),
  labels: Uint8Array.from({ length: EXAMPLES }, (_, n) => n % 8),
};

/** The parameter at a place of the model for a device. Some of them are its own, so that no two models are alike. */
const HOSTILE: Readonly<Record<string, (place: number, device: number) => number>> = {
  zero: () => 0,
  'not a number': () => Number.NaN,
  'one that is not a number': (place, device) => (place === device % model.dimension ? Number.NaN : 0.5),
  infinite: (place) => (place % 2 === 0 ? 1 : -1) * Number.POSITIVE_INFINITY,
  huge: (place, device) => (place % 2 === 0 ? 3e38 : -1e30 * device),
  vanishing: (_, device) => 1e-42 * (1 + device),
  tiny: (place, device) => 1e-12 * (place - device),
  'for one class': (place, device) => (place % 8 === device % 8 ? 1e6 : 0),
  alternating: (place, device) => (-1) ** (place + device),
  ordinary: (place, device) => Math.sin(place + 100 * device),
};
const KINDS = Object.values(HOSTILE);

function parametersFor(device: number, kind: number): Uint8Array {
  const parameterAt = KINDS[kind % KINDS.length] as (typeof KINDS)[number];
  return new Uint8Array(Float32Array.from({ length: model.dimension }, (_, n) => parameterAt(n, device)).buffer);
}

let world: World;
beforeAll(async () => {
  const metrics = [{ name: 'loss', low: 0, high: 4 }];
  world = await World.open();
  await world.createTask({ dimension: model.dimension, metrics }, { places: DEVICES + 1 });
  world.elapse(1000);
});
afterAll(() => world.close());

/** A server that shows these models, one after the other, and takes every upload. */
function showing(models: readonly Uint8Array[]): () => void {
  let taken = 0;
  const { faults, readers } = world.wire;
  faults.push(({ method, path, headers, body = new Uint8Array() }) => {
    if (path === SERVER_PATH.model(world.task, taken + 1))
      return answered(models[taken] as Uint8Array, 'application/octet-stream');
    if (method !== 'PUT' || headers[HEADER.upload] === undefined) return undefined;
    taken++;
    return answered(Buffer.from(JSON.stringify({ received: body.length, accepted: true })), 'application/json');
  });
  readers.push(({ path }, { status, headers, body }) => {
    if (path !== SERVER_PATH.admissions(world.task) || status !== 200) return undefined;
    const place = JSON.parse(Buffer.from(body).toString()) as { readonly model: string };
    const { statement, epochs } = ShownModel.decode(Buffer.from(place.model, 'hex'));
    const { serial } = statement;
    const modelHash = nodeSuite.sha256(models[taken] as Uint8Array);
    const other = { ...statement, version: taken + 1, serial: serial + taken, modelHash };
    const signature = world.serverSigner.sign(ModelStatement.statement(other));
    const shown = toHex(ShownModel.encode({ statement: { ...other, signature }, epochs }));
    return { status, headers, body: Buffer.from(JSON.stringify({ ...place, model: shown })) };
  });
  return () => void [faults.pop(), readers.pop()];
}

function answered(body: Uint8Array, type: string) {
  return { status: 200, headers: { 'content-type': type }, body };
}

/** The requests of a device that is shown two models, of which the second is the first again for every other device. */
async function requestsOf(device: number): Promise<readonly string[]> {
  const kinds = [device, device + (device % 2)];
  const end = showing(kinds.map((kind) => parametersFor(device, kind)));
  const requests: string[] = [];
  const { transport } = world.wire;
  const send: typeof transport.send = (request) => {
    const { method, url, headers, body } = request;
    const names = Object.entries(headers).map(([name, value]) => `${name} ${value.length}`);
    requests.push(`${method} ${url.replace(/[0-9a-f]{32,}/g, 'id')} ${body?.length ?? 0}: ${names.join(', ')}`);
    return transport.send(request);
  };
  const mask: Outside['mask'] = (vector, plan) => applyMasksInPlace(vector, plan, tools);
  const client = await world.device({ outside: { mask, transport: { ...transport, send } } });
  const summary = await client.run(createTrainer(createReferenceBackend(model)), allSamples(data), { rounds: 2 });
  expect(summary).toEqual({ accepted: 2, rejected: 0, ended: 'rounds' });
  await client.close();
  end();
  return requests;
}

it('hostile models cause requests of the same number, order and length at every device', async () => {
  const first = await requestsOf(KINDS.length - 1);
  expect(first.filter((line) => line.startsWith('PUT '))).toHaveLength(2);
  for (let device = 0; device < DEVICES; device++) expect(await requestsOf(device)).toEqual(first);
});
