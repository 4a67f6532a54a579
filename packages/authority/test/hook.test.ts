/** The owner's directory of users decides who enrols: a clear yes lets a device in, and nothing else does. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Authority, readAuthorityConfig } from '../src/index.ts';
import { ask, askAs, newDevice, register, userOf } from './asking.ts';
import { cleanUp, freshHome, OPERATOR, start } from './homes.ts';
import { shotStage } from './one-shot/shot-world.ts';

let reply: (response: ServerResponse) => unknown;
const asked: unknown[] = [];
const directory = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    asked.push(JSON.parse(Buffer.concat(parts).toString()));
    reply(response);
  });
});
const answers = (how: typeof reply): void => {
  reply = how;
};
const says = (body: string, status = 200): void => answers((response) => response.writeHead(status).end(body));

let url: string;
let authority: Authority;
let task: Awaited<ReturnType<typeof shotStage>>['task'];
beforeAll(async () => {
  await new Promise<void>((resolve) => directory.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(directory.address() as AddressInfo).port}/may-enrol`;
});
afterAll(() => directory.close());
async function open(timeoutMs: number): Promise<void> {
  authority = await start(freshHome(), { enrolmentHook: { url, timeoutMs } });
  ({ task } = await shotStage([authority], 0));
}

beforeEach(async () => {
  asked.length = 0;
  await open(600_000);
});
afterEach(cleanUp);

const enrol = (device = newDevice(), body: object = {}) =>
  askAs(device, authority, AUTHORITY_PATH.enrolments(task), body);

it('a device that the directory admits is let in, and is not asked about again', async () => {
  says('{"admit":true}');
  const device = newDevice();
  const proof = 'ab'.repeat(32);
  const first = await enrol(device, { proof });
  expect(first.status).toBe(200);
  const about = { task: toHex(task), deviceKey: toHex(device.deviceKey), user: toHex(userOf(device)) };
  expect(asked).toEqual([{ ...about, proof }]);
  says('{"admit":false}');
  expect((await enrol(device)).bytes).toEqual(first.bytes);
  expect(asked).toHaveLength(1);
});

it('a device that it does not admit is refused, also with a registered token or an allowed key', async () => {
  says('{"admit":false}');
  const [proof = ''] = await register(authority, task);
  expect((await enrol(newDevice(), { proof })).code).toBe('enrolment-token-invalid');
  const device = newDevice();
  const body = { deviceKeys: [toHex(device.deviceKey)] };
  await ask(authority, AUTHORITY_PATH.allowList(task), { method: 'PUT', body, token: OPERATOR });
  expect((await enrol(device)).code).toBe('enrolment-token-invalid');
});

it.each<[string, () => void]>([
  ['an error with a yes', () => says('{"admit":true}', 500)],
  ['a refusal with a yes', () => says('{"admit":true}', 403)],
  ['no JSON', () => says('yes')],
  ['null', () => says('null')],
  ['nothing', () => says('')],
  ['another kind of yes', () => says('{"admit":"true"}')],
  ['a yes behind more bytes than an answer has', () => says(`${' '.repeat(2000)}{"admit":true}`)],
  ['a connection that is cut', () => answers((response) => response.destroy())],
  ['a yes elsewhere', () => answers((response) => response.writeHead(307, { location: url }).end())],
])('fails closed: %s', async (_, behave) => {
  behave();
  expect((await enrol()).code).toBe('overloaded');
  says('{"admit":true}');
  expect((await enrol()).status).toBe(200);
});

it.each<[string, () => void]>([
  ['silence', () => answers(() => {})],
  ['a yes whose end never comes', () => answers((response) => response.write('{"admit":true'))],
])('fails closed in bounded time: %s', async (_, behave) => {
  await open(50);
  behave();
  expect((await enrol()).code).toBe('overloaded');
});

it('asks about a bounded number of devices at a time', async () => {
  const waiting: ServerResponse[] = [];
  answers((response) => waiting.push(response));
  let refused = 0;
  const all = Array.from({ length: 40 }, async () => {
    const { code } = await enrol();
    if (code === 'overloaded') refused++;
    return code;
  });
  await expect.poll(() => [waiting.length, refused]).toEqual([32, 8]);
  for (const response of waiting) response.end('{"admit":true}');
  expect((await Promise.all(all)).filter((code) => code === undefined)).toHaveLength(32);
});

it('is not asked over plain http on another machine', () => {
  const read = (enrolmentUrl: string) =>
    readAuthorityConfig({
      environment: { BASA_AUTHORITY_PASSPHRASE: 'secret' },
      overrides: { dataFolder: 'data', port: 0, enrolmentUrl },
    }).enrolmentHook;
  expect(read('https://users.example.org/may')).toEqual({ url: 'https://users.example.org/may' });
  expect(read(url)).toEqual({ url });
  expect(() => read('http://users.example.org/may')).toThrow('plain http');
});
