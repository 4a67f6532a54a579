// Runs in an empty project that installed the packages: both services, three devices and the program of the README.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority } from '@basa/authority';
import { BasaClient } from '@basa/client/node';
import { enrolmentHashes, newEnrolmentTokens } from '@basa/client/operator';
import { logisticRegression, manifestText } from '@basa/learning';
import { ascii, RING_32, toHex } from '@basa/masking';
import { AUTHORITY_PATH, SERVER_PATH } from '@basa/protocol/http';
import { ENGINE, ONE_SHOT_DEFAULTS, POLICY_DEFAULTS, TaskPolicy } from '@basa/protocol/policy';
import { nodeSuite } from '@basa/runtime/node';
import { startServer } from '@basa/server';
import { pagesFolder } from '@basa/web';

const folder = mkdtempSync(join(tmpdir(), 'basa-consumer-data-'));
const token = 'operator';
const operators = [
  { tokenHash: toHex(nodeSuite.sha256(new TextEncoder().encode(token))), roles: ['operator', 'tasks', 'enrol'] },
];
const listen = { host: '127.0.0.1', port: 0 };
const secret = { passphrase: 'for this run' };
const authority = await createAuthority({ dataFolder: join(folder, 'authority'), secret, listen, operators });
const { url, publicKey } = authority;
const server = await startServer({
  dataFolder: join(folder, 'server'),
  authorities: [{ url, publicKey }],
  listen,
  operators,
  tickMs: 50,
  pages: { folder: pagesFolder() },
});
for (const path of ['/', '/join.html', '/device-worker.js']) {
  const page = await fetch(server.url + path);
  if (!page.ok || !page.headers.has('content-security-policy')) throw new Error(`${path}: ${page.status}`);
}
const ask = async (base, path, body) => {
  const type = body instanceof Uint8Array ? 'application/octet-stream' : 'application/json';
  const headers = { authorization: `Bearer ${token}`, 'content-type': type };
  const sent = body instanceof Uint8Array ? body : JSON.stringify(body);
  const response = await fetch(new URL(path, base), { method: 'POST', headers, body: sent });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
};
/** Creates it at the authority first, then at the server; with tokens for this many devices. */
const createTask = async (name, choice, { devices, ...specification }) => {
  const policy = TaskPolicy.encode({
    name: new TextEncoder().encode(name),
    engine: ENGINE.oneShot,
    bufferSize: 3,
    minimum: 3,
    modulus: RING_32,
    level: 65536,
    clip: 1,
    ...POLICY_DEFAULTS,
    oneShot: ONE_SHOT_DEFAULTS,
    staleness: { kind: 'constant' },
    maxStaleness: 10,
    manifestHash: new Uint8Array(32),
    authorities: [publicKey],
    serverKey: server.publicKey,
    uploadLeaseMs: 600_000,
    ...choice,
  });
  const { task } = await ask(url, AUTHORITY_PATH.tasks, policy);
  await ask(server.url, SERVER_PATH.tasks, { policy: toHex(policy), ...specification });
  const tokens = newEnrolmentTokens(devices);
  const hashes = enrolmentHashes(tokens, toHex(publicKey));
  await ask(url, AUTHORITY_PATH.tokens(task), { hashes, endsAt: Date.now() + 3_600_000 });
  return { task, tokens };
};

const { task, tokens } = await createTask('consumer', { dimension: 4 }, { devices: 3 });
await Promise.all(
  tokens.map(async (enrolment, n) => {
    const identity = join(folder, `device-${n}`);
    const options = {
      server: server.url,
      authority: url,
      authorityKey: toHex(publicKey),
      task,
      identity,
      token: enrolment,
      floor: { noNoise: true },
    };
    const client = await BasaClient.connect(options);
    const result = await client.contribute(
      Float32Array.of(1, n, 0, 0).map((x) => x / 4),
      { trainedOn: 0 },
    );
    if (result.kind !== 'accepted') throw new Error(result.reason);
    await client.close();
  }),
);
let model;
while (model === undefined) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(new URL(SERVER_PATH.model(task, 1), server.url), { headers });
  if (response.ok) model = new Float32Array(await response.arrayBuffer());
  else await new Promise((resolve) => setTimeout(resolve, 50));
}
if (Math.abs((model[0] ?? 0) + 0.25) > 1e-3 || Math.abs((model[1] ?? 0) + 0.25) > 1e-3)
  throw new Error(`wrong mean: ${model}`);

// The program of the README, in a process of its own as its reader would run it.
const network = logisticRegression();
const { dimension, input, layers } = network;
const mnist = await createTask(
  'readme',
  {
    dimension,
    clip: 8,
    manifestHash: nodeSuite.sha256(ascii(manifestText(network))),
    oneShot: { ...ONE_SHOT_DEFAULTS, authorityNoise: true },
    privacy: { noiseMultiplier: 0.1, colluders: 0, budget: undefined },
  },
  { devices: 1, model: { input, layers: layers.map(({ layer }) => layer) }, initial: { seed: 1 } },
);
const environment = {
  BASA_SERVER: server.url,
  BASA_AUTHORITY: url,
  BASA_AUTHORITY_KEY: toHex(publicKey),
  BASA_TASK: mnist.task,
  BASA_ENROLMENT_TOKEN: mnist.tokens[0],
};
const env = { ...process.env, ...environment };
const program = join(process.cwd(), 'readme.js');
const { stdout } = await promisify(execFile)(process.execPath, [program], { cwd: folder, env });
process.stdout.write(stdout);
await server.close();
await authority.close();
rmSync(folder, { recursive: true });
