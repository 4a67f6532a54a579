/** Data folders, configurations and secrets that do not fit: each is refused with a sentence, and nothing is changed. Secrets are sealed at rest. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kitPolicy } from '@basa/conformance/kit-policy.ts';
import { signingDevice } from '@basa/conformance/signing-device.ts';
import { equalBytes, toHex } from '@basa/masking';
import { AUTHORITY_PATH } from '@basa/protocol/http';
import { agreementKeyOf } from '@basa/protocol/internal/one-shot/epochs.ts';
import { ENGINE, TaskPolicy } from '@basa/protocol/policy';
import { createNodeSigner, nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import { openDatabase } from '@basa/service';
import { AuthorityScene } from '@basa/testkit/world/authority-scene.ts';
import { asOperator, OPERATORS, operate } from '@basa/testkit/world/operator.ts';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type Authority,
  type AuthorityOptions,
  createAuthority,
  examineAuthority,
  readAuthorityConfig,
  rotateVault,
} from '../src/index.ts';
import { AUTHORITY_DATABASE } from '../src/store/store.ts';

interface Home {
  readonly root: string;
  readonly dataFolder: string;
  readonly keyFile: string;
}

const homes: string[] = [];
const mounted: string[] = [];
const running = new Set<Authority>();
let scene: AuthorityScene | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
  await Promise.all([...running].map(stop));
  for (const folder of mounted.splice(0)) execFileSync('umount', ['--lazy', folder]);
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

/** A folder for one authority: its data, its key file. */
function freshHome(): Home {
  const root = mkdtempSync(join(tmpdir(), 'basa-authority-'));
  homes.push(root);
  const keyFile = join(root, 'key');
  writeFileSync(keyFile, nodeRandomBytes(32), { mode: 0o600 });
  return { root, dataFolder: join(root, 'data'), keyFile };
}

async function start({ dataFolder, keyFile }: Omit<Home, 'root'>, more: Partial<AuthorityOptions> = {}) {
  const authority = await createAuthority({
    dataFolder,
    secret: { keyFile },
    operators: OPERATORS,
    tickMs: 1e9,
    ...more,
  });
  running.add(authority);
  return authority;
}

async function stop(authority: Authority): Promise<void> {
  running.delete(authority);
  await authority.close();
}

/** A task of a server that is not there. Returns its name. */
async function createTask({ url, publicKey }: Authority, change: Partial<TaskPolicy> = {}): Promise<string> {
  const policy = kitPolicy(
    { serverKey: createNodeSigner(nodeRandomBytes(32)).publicKey, authorityKeys: [publicKey] },
    change,
  );
  const answer = await operate(fetch, 'POST', new URL(AUTHORITY_PATH.tasks, url), TaskPolicy.encode(policy));
  return (JSON.parse(new TextDecoder().decode(answer)) as { task: string }).task;
}

/** A home with an authority that has stopped. */
async function usedHome(secret: { passphrase: string } | undefined = undefined) {
  const home = freshHome();
  const authority = await start(home, secret === undefined ? {} : { secret });
  await createTask(authority);
  await stop(authority);
  return { home, file: join(home.dataFolder, 'basa.sqlite') };
}

/** Changes the database behind the authority's back. */
function meddle(folder: string, sql: string): void {
  const { db, close } = openDatabase(folder, AUTHORITY_DATABASE);
  db.exec(sql);
  close();
}

describe('the secret of the vault', () => {
  it('a passphrase opens the keys that it sealed, and a wrong passphrase changes nothing', async () => {
    const passphrase = 'correct horse battery staple';
    const { home, file } = await usedHome({ passphrase });
    const before = readFileSync(file);
    await expect(start(home, { secret: { passphrase: 'correct horse battery stable' } })).rejects.toMatchObject({
      reason: 'keys',
      message: `the passphrase does not open the keys in ${home.dataFolder}, and nothing was changed; use the newest one that encrypted them`,
    });
    await expect(start(home)).rejects.toThrow(
      'the keys are encrypted with a passphrase; set passphrase instead of keyFile',
    );
    expect(readFileSync(file)).toEqual(before);
    expect((await fetch(`${(await start(home, { secret: { passphrase } })).url}/v1/health`)).status).toBe(200);
  });

  it('a key file opens the keys that it sealed; another, a short or a missing key file is refused', async () => {
    const { home } = await usedHome();
    const other = join(home.root, 'other');
    writeFileSync(other, nodeRandomBytes(32));
    await expect(start({ ...home, keyFile: other })).rejects.toThrow('the key file does not open the keys');
    writeFileSync(other, nodeRandomBytes(31));
    await expect(start({ ...home, keyFile: other })).rejects.toThrow(
      'must contain exactly 32 random bytes, but has 31',
    );
    await expect(start({ ...home, keyFile: '/nowhere' })).rejects.toThrow('the key file cannot be read');
    await expect(start(home, { secret: { passphrase: 'whatever it may be' } })).rejects.toThrow(
      'encrypted with a key file',
    );
  });

  it('a short passphrase is not taken for a new folder', async () => {
    await expect(start(freshHome(), { secret: { passphrase: 'short' } })).rejects.toThrow('at least 12 characters');
  });
});

describe('a data folder', () => {
  it.each([
    ['a changed master key', 'UPDATE paper_keys SET sealed = zeroblob(80)'],
    ['the master key of another task', 'UPDATE paper_keys SET task = zeroblob(32)'],
  ])('with %s is refused', async (_, sql) => {
    const home = freshHome();
    const authority = await start(home, { unsafePaperMode: true });
    const task = await createTask(authority, { engine: ENGINE.cpAbe, oneShot: undefined });
    await fetch(authority.url + AUTHORITY_PATH.unsafePaperSealingKey(task));
    await stop(authority);
    meddle(home.dataFolder, sql);
    await expect(start(home, { unsafePaperMode: true })).rejects.toThrow(/the master key of task .* is damaged/);
  });
});

it('a busy port is a sentence, and the folder is free again', async () => {
  const first = await start(freshHome());
  const home = freshHome();
  const listen = { host: '127.0.0.1', port: Number(new URL(first.url).port) };
  await expect(start(home, { listen })).rejects.toMatchObject({ reason: 'address' });
  await start(home);
});

/** Small file systems need the right to mount. */
function mount(options: string): string | undefined {
  const folder = join(freshHome().root, 'mount');
  mkdirSync(folder);
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  mounted.push(folder);
  return folder;
}

it('a read-only disk is a sentence', async ({ skip }) => {
  const folder = mount('ro,size=1m') ?? skip('mount is not permitted here');
  await expect(start({ ...freshHome(), dataFolder: join(folder, 'data') })).rejects.toThrow(
    'cannot be used as a data folder',
  );
});

it('a full disk refuses requests that write, serves other requests, and loses nothing', async ({ skip }) => {
  const folder = mount('size=600k') ?? skip('mount is not permitted here');
  const home = { ...freshHome(), dataFolder: join(folder, 'data') };
  const authority = await start(home, { addressLimit: { burst: 1e6, perSecond: 1e6 } });
  const task = await createTask(authority);
  const address = new URL(AUTHORITY_PATH.tokens(task), authority.url);
  const fill = () => {
    const hashes = Array.from({ length: 100 }, () => toHex(nodeRandomBytes(32)));
    return asOperator(fetch, 'POST', address, { hashes, endsAt: Date.now() + 1e6 });
  };
  let answer = await fill();
  while (answer.ok) answer = await fill();
  expect(await answer.json()).toMatchObject({ type: 'urn:basa:problem:storage-full' });
  expect((await fetch(authority.url + AUTHORITY_PATH.policy(task))).status).toBe(200);
  execFileSync('mount', ['-o', 'remount,size=4m', folder]);
  expect((await fill()).status).toBe(200);
  await stop(authority);
  await stop(await start(home));
});

it('tells the doctor how many devices of a task are enrolled and not revoked', async () => {
  scene = await AuthorityScene.open(3);
  const { shots, world } = scene;
  await scene.operate('POST', AUTHORITY_PATH.revocations, { user: toHex(shots[0]?.upload.header.user as Uint8Array) });
  const { dataFolder, keyFile } = world.authorities[0] as AuthorityScene['world']['authorities'][number];
  const fleets = await examineAuthority({ dataFolder, secret: { keyFile }, operators: OPERATORS });
  const { bufferSize, minimum } = world.policy;
  expect(fleets).toEqual([{ name: 'world 1', bufferSize, minimum, devices: 2 }]);
});

it.each([
  ['no data folder', { BASA_AUTHORITY_DATA_FOLDER: undefined }, 'configuration', 'dataFolder is missing'],
  ['no secret', { BASA_AUTHORITY_KEY_FILE: undefined }, 'configuration', 'set exactly one of passphrase'],
  ['a port that is no number', { BASA_AUTHORITY_PORT: '"x"' }, 'configuration', 'port must be'],
  ['a key file that is not there', { BASA_AUTHORITY_KEY_FILE: '/nowhere' }, 'keys', 'the key file cannot be read'],
  [
    'a TLS key that is not there',
    { BASA_AUTHORITY_TLS_KEY_FILE: '/nowhere', BASA_AUTHORITY_TLS_CERT_FILE: '/nowhere' },
    'configuration',
    'tlsKeyFile: /nowhere does not exist; create the file, or change its path',
  ],
  ['half of TLS', { BASA_AUTHORITY_TLS_KEY_FILE: '/x' }, 'configuration', 'tlsKeyFile and tlsCertFile need each other'],
])('a configuration with %s is a sentence', async (_, change, reason, sentence) => {
  const { dataFolder, keyFile } = freshHome();
  const given = { BASA_AUTHORITY_DATA_FOLDER: dataFolder, BASA_AUTHORITY_KEY_FILE: keyFile, BASA_AUTHORITY_PORT: '0' };
  const environment = Object.fromEntries(
    Object.entries({ ...given, ...change }).filter(([, value]) => value !== undefined),
  );
  const starting = async () => createAuthority(readAuthorityConfig({ environment }));
  await expect(starting()).rejects.toMatchObject({ reason, message: expect.stringContaining(sentence) });
});

describe('secrets', () => {
  const paperKey = async (): Promise<Uint8Array> => {
    const { ask, world } = scene as AuthorityScene;
    return (await ask.call(scene, AUTHORITY_PATH.unsafePaperSealingKey(world.task))).bytes;
  };

  it('open only with the new secret once it is changed, and are the same as before', async () => {
    scene = await AuthorityScene.open(2, { authority: { unsafePaperMode: true }, server: { unsafePaperMode: true } });
    const { world } = scene;
    const party = world.authorities[0] as (typeof world.authorities)[number];
    const batch = scene.batch();
    const inspected = () => (scene as AuthorityScene).inspectBy(0, (scene as AuthorityScene).shots);
    const [policy, task] = [world.policy, world.task];
    await world.createTask({ engine: ENGINE.cpAbe, oneShot: undefined }, { mode: 'paper' });
    const [publicKey, sealingKey] = [party.publicKey, await paperKey()];
    const { dataFolder, keyFile } = party;
    const settings = [`dataFolder=${dataFolder}`, `keyFile=${keyFile}`, 'port=0'];
    const fresh = join(world.folder, 'new-key');
    writeFileSync(fresh, nodeRandomBytes(32), { mode: 0o600 });
    const places = { environment: {}, settings };
    await expect(rotateVault(places, { keyFile: fresh })).rejects.toMatchObject({ reason: 'inUse' });
    await party.restart(
      async () => {
        await expect(rotateVault(places, { passphrase: 'short' })).rejects.toMatchObject({ reason: 'keys' });
        expect(await rotateVault(places, { keyFile: fresh })).toEqual({ sealedKeys: 1 });
        await expect(start({ dataFolder, keyFile })).rejects.toThrow('the key file does not open the keys');
        await expect(rotateVault(places, { keyFile: fresh })).rejects.toMatchObject({ reason: 'keys' });
      },
      { secret: { keyFile: fresh } },
    );
    expect([party.publicKey, await paperKey()]).toEqual([publicKey, sealingKey]);
    Object.assign(world, { policy, task });
    expect(await inspected()).toMatchObject({ verdicts: batch.uploads.map(() => ({ verdict: 'good' })) });
  });

  it('are neither on disk nor in a log line: no signing key, epoch secret, master key or token', async () => {
    const lines: string[] = [];
    const log = { level: 'trace', stream: { write: (line: string) => void lines.push(line) } } as const;
    scene = await AuthorityScene.open(2, {
      authority: { unsafePaperMode: true, log },
      server: { unsafePaperMode: true },
    });
    const { world } = scene;
    const party = world.authorities[0] as (typeof world.authorities)[number];
    const [proof = ''] = await scene.register();
    await scene.askAs(signingDevice(), AUTHORITY_PATH.enrolments(world.task), { proof });
    await scene.votes(scene.batch());
    const { key } = await scene.epoch();
    await world.createTask({ engine: ENGINE.cpAbe, oneShot: undefined }, { mode: 'paper' });
    const before = party.drawn.length;
    await paperKey();
    const ofMasterKey = party.drawn.slice(before).filter(({ length }) => length > 32);

    // The secrets, found again from the randomness that was drawn.
    const words = party.drawn.filter(({ length }) => length === 32);
    const seed = words.find((bytes) => equalBytes(createNodeSigner(bytes).publicKey, party.publicKey));
    const epochSecret = words.find((bytes) => equalBytes(agreementKeyOf(nodeSuite, bytes), key));
    expect([seed, epochSecret]).not.toContain(undefined);
    expect(ofMasterKey).toHaveLength(2);
    const secrets = [
      seed as Uint8Array,
      epochSecret as Uint8Array,
      ...ofMasterKey,
      new Uint8Array(readFileSync(party.keyFile)),
      Buffer.from(proof, 'hex'),
    ];
    const atRest = [everythingIn(party.dataFolder)];
    await party.restart(() => void atRest.push(everythingIn(party.dataFolder)));
    const haystack = Buffer.concat([...atRest, Buffer.from(lines.join(''))]);
    // The search finds what is there: the public key of the epoch is in its unit.
    expect(occursIn(haystack, key)).toBe(true);
    expect(secrets.map((secret) => occursIn(haystack, secret))).toEqual(secrets.map(() => false));
  });
});

/** Every file below, as one text of bytes. */
function everythingIn(...folders: readonly string[]): Buffer {
  const entries = folders.flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }));
  const files = entries.filter((entry) => entry.isFile());
  return Buffer.concat(files.map(({ parentPath, name }) => readFileSync(join(parentPath, name))));
}

function occursIn(haystack: Buffer, secret: Uint8Array): boolean {
  const bytes = Buffer.from(secret);
  const forms = [
    bytes,
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -2),
    bytes.toString('base64url').slice(0, -1),
  ];
  return forms.some((form) => haystack.includes(form));
}
