// Starts real services with the command line of this repository, in folders that are removed at the end.
import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Service } from './http.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CLI = [
  '--import',
  './scripts/typescript.mjs',
  '--conditions=@basa/source',
  join('packages', 'cli', 'src', 'main.ts'),
];

/** Starts one service and waits until it says where it listens. */
async function start(kind, folder, settings) {
  const config = join(folder, `${kind}.json`);
  await writeFile(config, JSON.stringify({ port: 0, dataFolder: join(folder, 'data'), ...settings }));
  const child = spawn(process.execPath, [...CLI, kind, '--config', config], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  const url = await new Promise((resolve, reject) => {
    const hear = (chunk) => {
      said += chunk;
      const found = /listening at (http:\S+\d)/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => reject(new Error(`the ${kind} ended with ${code}:\n${said}`)));
  });
  return { url, child };
}

const stopped = (child) =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', resolve);
    child.kill('SIGTERM');
  });

const folderFor = (name) => mkdtemp(join(tmpdir(), `basa-second-reader-${name}-`));

async function withKey(url, target) {
  const { publicKey } = await new Service(url).ask('GET', target);
  return { url, publicKey: Buffer.from(publicKey, 'hex') };
}

/** Services that are up; the operator trusts the keys that they tell. */
export async function findServices(serverUrl, authorityUrls, token) {
  const authorities = await Promise.all(authorityUrls.map((url) => withKey(url, '/v1/authority')));
  return { token, authorities, server: await withKey(serverUrl, '/v1/server'), stop: async () => {} };
}

/** n authorities and a server that knows all of them, with an operator's token that opens each. */
export async function startServices(n) {
  const token = randomBytes(16).toString('hex');
  const tokenHash = createHash('sha256').update(token).digest('hex');
  const operators = [{ tokenHash, roles: ['operator', 'auditor'] }];
  const folders = await Promise.all(
    Array.from({ length: n + 1 }, (_, a) => folderFor(a < n ? `authority-${a}` : 'server')),
  );
  const children = [];
  const stop = async () => {
    await Promise.all(children.map(stopped));
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })));
  };
  try {
    const authorities = await Promise.all(
      folders.slice(0, n).map(async (folder) => {
        const keyFile = join(folder, 'authority.key');
        await writeFile(keyFile, randomBytes(32), { mode: 0o600 });
        const { url, child } = await start('authority', folder, { operators, keyFile });
        children.push(child);
        return { ...(await withKey(url, '/v1/authority')), stop: () => stopped(child) };
      }),
    );
    const server = await start('server', folders[n], {
      operators,
      authorityUrl: authorities.map((one) => one.url).join(','),
      authorityKey: authorities.map((one) => one.publicKey.toString('hex')).join(','),
    });
    children.push(server.child);
    return { token, authorities, server: await withKey(server.url, '/v1/server'), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
