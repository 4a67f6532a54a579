/** Enrolment over HTTP: tokens that are good once, lists, the owner's directory of users, revocation; and writes that fail. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { hasGoodEndorsements } from '@basa/protocol/internal/wire/council.ts';
import { Revocations, userIdOf } from '@basa/protocol/internal/wire/devices.ts';
import { TaskPolicy } from '@basa/protocol/policy';
import { Certificate, isSigned } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type AuthorityOptions, readAuthorityConfig } from '../src/index.ts';
import { AuthorityTables } from '../src/store/store.ts';

const DAY_MS = 86_400_000;
let scene: AuthorityScene;
afterEach(async () => {
  vi.restoreAllMocks();
  await scene.close();
});

type Device = ReturnType<typeof signingDevice>;
const userOf = ({ deviceKey }: Device): string => toHex(userIdOf(nodeSuite, deviceKey));

async function withTokens(count: number, authority: Partial<AuthorityOptions> = {}) {
  scene = await AuthorityScene.open(0, { authority });
  return { world: scene.world, tokens: await scene.register(count, scene.world.now + DAY_MS) };
}

const party = () => scene.world.authorities[0] as (typeof scene.world.authorities)[number];
const enrol = (device: Device, proof?: string, task = scene.world.task) =>
  scene.askAs(device, AUTHORITY_PATH.enrolments(task), proof === undefined ? {} : { proof });
const allow = (device: Device, task = scene.world.task) =>
  scene.operate('PUT', AUTHORITY_PATH.allowList(task), { deviceKeys: [toHex(device.deviceKey)] });
const revoke = (user: string) => scene.operate('POST', AUTHORITY_PATH.revocations, { user });

describe('an enrolment token', () => {
  it('enrols one device; the same device gets its certificate again, with any token or without a token', async () => {
    const { world, tokens } = await withTokens(2);
    const [device, other] = [signingDevice(), signingDevice()];
    const first = await enrol(device, tokens[0]);
    const certificate = Certificate.decode(first.bytes);
    expect([toHex(certificate.task), certificate.deviceKey]).toEqual([world.task, device.deviceKey]);
    expect(hasGoodEndorsements(nodeSuite, Certificate, world.policy, certificate)).toBe(true);
    expect((await enrol(other, tokens[0])).code).toBe('enrolment-token-invalid');
    for (const token of [tokens[0], tokens[1], undefined])
      expect((await enrol(device, token)).bytes).toEqual(first.bytes);
    expect((await enrol(other, tokens[1])).status).toBe(200); // it was not used up
  });

  it('is used up for good: also after a restart', async () => {
    const { tokens } = await withTokens(1);
    await enrol(signingDevice(), tokens[0]);
    await party().restart();
    expect((await enrol(signingDevice(), tokens[0])).code).toBe('enrolment-token-invalid');
  });

  it('expires, is valid only for its task, and cannot be guessed or shown as its hash', async () => {
    const { world, tokens } = await withTokens(1);
    const { task } = world;
    const hash = toHex(nodeSuite.sha256(Buffer.from(tokens[0] ?? '', 'hex')));
    const isRefused = async (proof = tokens[0], of = task) =>
      expect((await enrol(signingDevice(), proof, of)).code).toBe('enrolment-token-invalid');
    for (const proof of ['ab'.repeat(32), hash]) await isRefused(proof);
    expect((await enrol(signingDevice(), 'ab', task)).code).toBe('malformed');
    await isRefused(tokens[0], await world.createTask());
    world.elapse(DAY_MS);
    await isRefused();
    await party().service.tick();
    world.elapse(-DAY_MS);
    await isRefused();
  });

  it('that is registered again is not free again', async () => {
    const { world, tokens } = await withTokens(1);
    const hashes = tokens.map((proof) => toHex(nodeSuite.sha256(Buffer.from(proof, 'hex'))));
    expect((await enrol(signingDevice(), tokens[0])).status).toBe(200);
    const again = await scene.operate('POST', AUTHORITY_PATH.tokens(world.task), {
      hashes,
      endsAt: world.now + DAY_MS,
    });
    expect(again.json()).toEqual({ registered: 1 });
    expect((await enrol(signingDevice(), tokens[0])).code).toBe('enrolment-token-invalid');
  });

  it('is not registered with an end in the past, and not a million at a time', async () => {
    const { world } = await withTokens(0);
    const { now } = world;
    for (const body of [
      { hashes: ['ab'.repeat(32)], endsAt: now },
      { hashes: Array.from({ length: 1001 }, () => 'ab'.repeat(32)), endsAt: now + 1 },
      { hashes: [], endsAt: now + 1 },
      { endsAt: now + 1 },
      { hashes: ['ab'.repeat(31)], endsAt: now + 1 },
      { count: 1, endsAt: now + 1 }, // an authority makes no tokens
    ])
      expect((await scene.operate('POST', AUTHORITY_PATH.tokens(world.task), body)).code).toBe('malformed');
  });
});

it('owners can list the enrolled and the revoked devices, page by page', async () => {
  const { world, tokens } = await withTokens(3);
  const devices = tokens.map(() => signingDevice());
  for (const [n, device] of devices.entries()) await enrol(device, tokens[n]);
  const names = devices.map(userOf).sort();
  await revoke(names[1] ?? '');
  const list = async (query: string) =>
    (await scene.operate('GET', AUTHORITY_PATH.devices(world.task) + query)).json() as {
      devices: { user: string; revoked: boolean }[];
      next?: string;
    };
  const first = await list('?most=2');
  expect(first.devices.map(({ user, revoked }) => [user, revoked])).toEqual([
    [names[0], false],
    [names[1], true],
  ]);
  expect(first.next).toBe(names[2]);
  const rest = await list(`?from=${first.next}`);
  expect(rest).toEqual({ devices: [expect.objectContaining({ user: names[2], revoked: false })] });
});

it('anybody may read the signed list of revoked devices, which may be devices that it never enrolled', async () => {
  const { tokens } = await withTokens(1);
  const [device, unknown] = [signingDevice(), signingDevice()];
  await enrol(device, tokens[0]);
  for (const one of [device, unknown, device]) expect((await revoke(userOf(one))).json()).toEqual({ revoked: true });
  await party().restart();
  const told = Revocations.decode((await scene.ask(AUTHORITY_PATH.revocations)).bytes);
  expect(told.users.map(toHex)).toEqual([userOf(unknown), userOf(device)]);
  expect(isSigned(nodeSuite, Revocations, told, party().publicKey)).toBe(true);
});

it('anybody may read the policy byte for byte, and the key and time of the authority', async () => {
  const { world } = await withTokens(0);
  const bytes = TaskPolicy.encode(world.policy);
  expect((await scene.ask(AUTHORITY_PATH.policy(world.task))).bytes).toEqual(bytes);
  const { publicKey, time } = (await scene.ask(AUTHORITY_PATH.about)).json();
  expect([publicKey, time]).toEqual([toHex(party().publicKey), world.now]);
});

describe('a device', () => {
  it('on the allow-list of one task needs no token there, and one for another task', async () => {
    const { world } = await withTokens(0);
    const [device, first] = [signingDevice(), world.task];
    for (const _ of [1, 2]) expect((await allow(device)).json()).toEqual({ allowed: 1 });
    const other = await world.createTask();
    expect((await enrol(device, undefined, other)).code).toBe('enrolment-token-invalid');
    const certificate = await enrol(device, undefined, first);
    expect(certificate.status).toBe(200);
    const [proof] = await scene.register();
    const second = await enrol(device, proof, other);
    expect(toHex(Certificate.decode(second.bytes).task)).toBe(other);
    expect((await enrol(device, undefined, first)).bytes).toEqual(certificate.bytes);
  });

  it('that was revoked is refused immediately and permanently, also after a restart', async () => {
    const { tokens } = await withTokens(2);
    const device = signingDevice();
    await enrol(device, tokens[0]);
    await revoke(userOf(device));
    expect((await enrol(device, tokens[1])).code).toBe('revoked');
    await party().restart();
    expect((await enrol(device, tokens[1])).code).toBe('revoked');
    expect((await enrol(signingDevice(), tokens[1])).status).toBe(200); // the token was not used up
  });

  it('has its request served once, and only if its clock is right', async () => {
    const { world, tokens } = await withTokens(1);
    const [device, path] = [signingDevice(), AUTHORITY_PATH.enrolments(world.task)];
    const body = { proof: tokens[0] };
    expect((await scene.askAs(device, path, body, { at: world.now - 400_000 })).code).toBe('clock-skew');
    const signed = { audience: party().publicKey, method: 'POST', target: path, at: world.now };
    const headers = device.headers({ ...signed, body: JSON.stringify(body) });
    expect((await scene.ask(path, body, { headers })).status).toBe(200);
    expect((await scene.ask(path, body, { headers })).code).toBe('replayed');
  });
});

describe('a disk that fails', () => {
  it('changes nothing: the request is refused, and served when there is space again', async () => {
    const { world } = await withTokens(0);
    const policy = { ...world.policy, name: new TextEncoder().encode('another') };
    const create = () => scene.operate('POST', AUTHORITY_PATH.tasks, TaskPolicy.encode(policy));
    const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 });
    vi.spyOn(AuthorityTables.prototype, 'addTask').mockRejectedValue(full);
    for (let n = 0; n < 2; n++) expect((await create()).code).toBe('storage-full');
    vi.restoreAllMocks();
    const listed = (await scene.operate('GET', AUTHORITY_PATH.tasks)).json()['tasks'];
    expect(listed).toHaveLength(1);
    expect((await create()).status).toBe(200);
  });

  it('cannot use up a token without the enrolment', async () => {
    const { tokens } = await withTokens(1);
    const { useToken } = AuthorityTables.prototype;
    vi.spyOn(AuthorityTables.prototype, 'useToken').mockImplementation(async function (
      this: AuthorityTables,
      ...values
    ) {
      await useToken.apply(this, values);
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    });
    expect((await enrol(signingDevice(), tokens[0])).code).toBe('storage-full');
    vi.restoreAllMocks();
    expect((await enrol(signingDevice(), tokens[0])).status).toBe(200);
  });
});

describe("the owner's directory of users", () => {
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
  beforeAll(async () => {
    await new Promise<void>((resolve) => directory.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(directory.address() as AddressInfo).port}/may-enrol`;
  });
  afterAll(() => directory.close());
  beforeEach(async () => {
    asked.length = 0;
    await withTokens(0, { enrolmentHook: { url, timeoutMs: 600_000 } });
  });

  it('a device that the directory admits is let in, and is not asked about again', async () => {
    says('{"admit":true}');
    const device = signingDevice();
    const proof = 'ab'.repeat(32);
    const first = await enrol(device, proof);
    expect(first.status).toBe(200);
    const about = { task: scene.world.task, deviceKey: toHex(device.deviceKey), user: userOf(device) };
    expect(asked).toEqual([{ ...about, proof }]);
    says('{"admit":false}');
    expect((await enrol(device)).bytes).toEqual(first.bytes);
    expect(asked).toHaveLength(1);
  });

  it('a device that it does not admit is refused, also with a registered token or an allowed key', async () => {
    says('{"admit":false}');
    const [proof] = await scene.register();
    expect((await enrol(signingDevice(), proof)).code).toBe('enrolment-token-invalid');
    const device = signingDevice();
    await allow(device);
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
    expect((await enrol(signingDevice())).code).toBe('overloaded');
    says('{"admit":true}');
    expect((await enrol(signingDevice())).status).toBe(200);
  });

  it.each<[string, () => void]>([
    ['silence', () => answers(() => {})],
    ['a yes whose end never comes', () => answers((response) => response.write('{"admit":true'))],
  ])('fails closed in bounded time: %s', async (_, behave) => {
    await scene.close();
    await withTokens(0, { enrolmentHook: { url, timeoutMs: 50 } });
    behave();
    expect((await enrol(signingDevice())).code).toBe('overloaded');
  });

  it('asks about a bounded number of devices at a time', async () => {
    const waiting: ServerResponse[] = [];
    answers((response) => waiting.push(response));
    let refused = 0;
    const all = Array.from({ length: 40 }, async () => {
      const { code } = await enrol(signingDevice());
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
});
