/** After a contribution nothing secret of a device is anywhere but on the device: not stored, not logged, not sent. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type DeviceStore, inMemoryStoreForTests } from '@basa/client/node';
import type { ServiceProxy } from '@basa/conformance/service-proxy.ts';
import { toHex } from '@basa/masking';
import { sumRules } from '@basa/protocol/internal/wire/input.ts';
import { buildInput } from '@basa/protocol/one-shot';
import { createNodeSigner, nodeRandomBytes } from '@basa/runtime/node';
import { oneHot, TestServices } from '@basa/testkit/services/test-services.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

interface Found {
  readonly what: string;
  readonly bytes: Uint8Array;
}

const secrets: Found[] = [];
const durable: Found[] = [];
const lines: string[] = [];
/** The messages between server and authority. */
const between: Uint8Array[] = [];
let services: TestServices;
let proxies: readonly ServiceProxy[];
let joinTag: Uint8Array;

beforeAll(async () => {
  const log = { level: 'trace', stream: { write: (line: string) => void lines.push(line) } } as const;
  services = await TestServices.open({ server: { log, fetch: listeningFetch }, authority: { log } });
  proxies = [await services.proxy('server'), await services.proxy('authority')];
  for (const [n, name] of ['a', 'b', 'c'].entries()) await contribute(name, n);
  await services.reached(1);
  await services.server.close();
  await services.authority.close();
});
afterAll(async () => {
  await services.startAuthority();
  await services.startServer();
  await services.close();
});

async function contribute(name: string, place: number): Promise<void> {
  const secretKey = nodeRandomBytes(32);
  secrets.push({ what: `the device key of ${name}`, bytes: secretKey.slice() });
  secrets.push({ what: `the quantised input of ${name}`, bytes: inputOf(place) });
  const identity = overheard(name, inMemoryStoreForTests(createNodeSigner(secretKey)));
  const [server, authority] = proxies.map(({ url }) => url) as [string, string];
  const client = await services.client(name, { identity, server, authority });
  const contribution = await client.contribute(oneHot(place), { trainedOn: 0 });
  if (contribution.kind !== 'accepted') throw new Error(contribution.reason);
  joinTag = new Uint8Array(Buffer.from(contribution.joinTag, 'hex'));
}

/** Listens to everything that the device makes durable besides its key. */
function overheard(name: string, store: DeviceStore): DeviceStore {
  const hear = (bytes: Uint8Array): void => void durable.push({ what: `the store of ${name}`, bytes: bytes.slice() });
  return {
    ...store,
    append: (entries, body) => {
      for (const bytes of [...entries, ...(body === undefined ? [] : [body])]) hear(bytes);
      return store.append(entries, body);
    },
  };
}

/** x' of a one-hot update: its entries are multiples of the step, so no rounding is drawn. */
function inputOf(place: number): Uint8Array {
  const zeros = (words: Uint32Array): void => void words.fill(0);
  const built = buildInput(sumRules(services.policy, 0), { delta: oneHot(place), randomWords: zeros });
  if (built.kind !== 'input') throw new Error(built.reason);
  return new Uint8Array(built.vector.buffer);
}

const listeningFetch: typeof fetch = async (url, options) => {
  if (options?.body instanceof Uint8Array) between.push(new Uint8Array(options.body));
  const response = await fetch(url, options);
  between.push(new Uint8Array(await response.clone().arrayBuffer()));
  return response;
};

/** Everything that was written or sent, by its place. */
function places(): readonly Found[] {
  const files = ['server', 'authority'].flatMap((which) => {
    const folder = join(services.folder, which);
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(path).isFile())
      .map((path) => ({ what: path.slice(services.folder.length + 1), bytes: new Uint8Array(readFileSync(path)) }));
  });
  const bodies = proxies.flatMap(({ passed }) =>
    passed.flatMap(({ asked, answer }) => [
      { what: `${asked.method} ${asked.path}`, bytes: asked.body },
      { what: `headers of ${asked.path}`, bytes: Buffer.from(JSON.stringify([asked.headers, answer.headers])) },
      { what: `answer to ${asked.path}`, bytes: answer.body },
    ]),
  );
  const told = between.map((bytes) => ({ what: 'between server and authority', bytes }));
  return [...files, ...bodies, ...told, ...durable, { what: 'the logs', bytes: Buffer.from(lines.join('')) }];
}

/** The bytes as they are, in hexadecimal, and in base64 wherever in a longer text they start. */
function forms(bytes: Uint8Array): readonly Buffer[] {
  const base64 = [0, 1, 2].map((skip) => {
    const from = bytes.subarray(skip);
    return Buffer.from(from.subarray(0, from.length - (from.length % 3))).toString('base64');
  });
  const hex = toHex(bytes);
  const texts = [
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replace(/\+/g, '-').replace(/\//g, '_')),
  ];
  return [Buffer.from(bytes), ...texts.map((text) => Buffer.from(text))];
}

function whereabouts(bytes: Uint8Array): readonly string[] {
  const wanted = forms(bytes);
  return places()
    .filter((place) => wanted.some((form) => Buffer.from(place.bytes).includes(form)))
    .map(({ what }) => what);
}

it('the search finds public values in a store, in a message, in a header and in a log', () => {
  const found = whereabouts(joinTag);
  expect(found).toContain('server/basa.sqlite');
  expect(found).toContain('between server and authority');
  expect(found.some((what) => what.startsWith('headers of'))).toBe(true);
  const task = new Uint8Array(Buffer.from(services.task, 'hex'));
  expect(whereabouts(task)).toContain('the logs');
});

it('no input or key of a device is stored, logged or sent by anybody, not even with its upload on the device', () => {
  // Per device: its key and its input.
  expect(secrets).toHaveLength(3 * 2);
  expect(durable.length).toBeGreaterThan(3);
  for (const { what, bytes } of secrets) expect([what, whereabouts(bytes)]).toEqual([what, []]);
});

it('a finished batch leaves no sealed seed and no masked vector behind', () => {
  const bodies = (proxies[0] as ServiceProxy).passed
    .filter(({ asked }) => asked.method === 'PUT')
    .map(({ asked }) => asked.body);
  expect(bodies).toHaveLength(3);
  const sealed = bodies.map((body) => body.subarray(-32));
  for (const bytes of [...bodies, ...sealed]) {
    const files = whereabouts(bytes).filter((what) => /^(server|authority)\//.test(what));
    expect(files).toEqual([]);
  }
});
