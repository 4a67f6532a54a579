/** The checks of `basa doctor`: of a service, of its machine, and of the parties that hold its tokens. */

import { existsSync, rmSync } from 'node:fs';
import { mkdtemp, open, stat, statfs } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import type { TaskFleet } from '@basa/authority';
import { AuthorityOperator, ServerOperator } from '@basa/client/operator';
import { toHex } from '@basa/masking';
import { AUTHORITY_PATH, Network } from '@basa/protocol/http';
import { Devices, isSigned } from '@basa/protocol/wire';
import { nodeSuite } from '@basa/runtime/node';
import type { Places, ServiceName } from './config.ts';
import { clockFinding, type Finding, failed, fine, tlsFindings, tried, warning } from './findings.ts';

const PATIENCE_MS = 10_000;

export function checkService(service: ServiceName, places: Places): Promise<readonly Finding[]> {
  return tried('configuration', () => (service === 'server' ? checkServer(places) : checkAuthority(places)));
}

async function checkServer(places: Places): Promise<readonly Finding[]> {
  const { checkServerConfig, examineServer, readServerConfig } = await import('@basa/server');
  const { risks, config } = checkServerConfig(places);
  const options = readServerConfig(places);
  const records = await tried('records', async () => {
    const { records: found } = await examineServer(options);
    if (found === undefined) return [fine('records', 'there are none yet: this is a new server')];
    const { missing, clockAheadMs, revoked } = found;
    const lost = `${missing.length} blobs are missing, the first is ${missing[0]}`;
    return [
      fine('records', 'they have the format of this version'),
      missing.length === 0
        ? fine('blobs', 'all blobs that the records name exist')
        : failed('blobs', lost, 'restore the newest backup'),
      clockFinding('the database', clockAheadMs),
      ...revocationFindings(revoked, await Promise.all(options.authorities.map(revocationsOf))),
    ];
  });
  return [
    ...configFindings(risks),
    ...(await tlsFindings(config)),
    await checkPort(options.listen, () => isOurs(options)),
    ...(await checkFolder(options.dataFolder)),
    ...records,
    ...(await issuerFindings(options.signIn)),
    ...(await Promise.all(options.authorities.map(askAuthority))).flat(),
  ];
}

async function checkAuthority(places: Places): Promise<readonly Finding[]> {
  const { checkAuthorityConfig, examineAuthority, readAuthorityConfig } = await import('@basa/authority');
  const { risks, config } = checkAuthorityConfig(places);
  const options = readAuthorityConfig(places);
  const { listen = { host: '127.0.0.1', port: 0 }, dataFolder } = options;
  const records = await tried('records', async () => {
    const fleets = await examineAuthority(options);
    if (fleets === undefined) return [fine('records', 'there are none yet: this is a new authority')];
    return [fine('records', 'they have the format of this version'), ...fleets.map(fleetFinding)];
  });
  return [
    ...configFindings(risks),
    ...(await tlsFindings(config)),
    ...keyFileFindings(options.secret),
    await checkPort(listen, () => isOurs({ ...options, listen })),
    ...(await checkFolder(dataFolder)),
    ...records,
    ...(await issuerFindings(options.signIn)),
  ];
}

/** Fewer devices than a sum needs never make one; with fewer than two batches' worth, batches fill one after the other. */
function fleetFinding({ name, devices, minimum, bufferSize }: TaskFleet): Finding {
  const check = `devices of ${name}`;
  const says = `${devices} enrolled; a sum needs ${minimum === bufferSize ? minimum : `${minimum} to ${bufferSize}`} updates`;
  const todo = `enrol ${minimum - devices} more; until then, there is no sum and no new version of the model`;
  if (devices < minimum) return warning(check, says, todo);
  const small = `${says}; with fewer than ${2 * bufferSize} devices, only one batch fills at a time`;
  return fine(check, devices < 2 * bufferSize ? small : says);
}

/** Without its key file an authority does not start; a passphrase cannot be checked here. */
function keyFileFindings(secret: { readonly keyFile: string } | object): readonly Finding[] {
  if (!('keyFile' in secret)) return [];
  if (existsSync(secret.keyFile)) return [fine('key file', secret.keyFile)];
  const todo = `put the old key file back, or create one for a new authority: openssl rand -out ${secret.keyFile} 32; chmod 600 ${secret.keyFile}`;
  return [failed('key file', `${secret.keyFile} does not exist`, todo)];
}

/** The service asks at the same address when the first operator signs in. */
async function issuerFindings(signIn: { readonly issuer: string } | undefined): Promise<readonly Finding[]> {
  if (signIn === undefined) return [];
  const { issuer } = signIn;
  const todo =
    'check `issuer` in the key oidc and the network; until then, only tokens of the configuration are accepted';
  try {
    const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' });
    const told = (await answer.json()) as { readonly issuer?: unknown };
    if (told.issuer === issuer) return [fine('sign-in', `${issuer} answers`)];
    return [failed('sign-in', `${url} describes another issuer`, todo)];
  } catch (error) {
    return [failed('sign-in', `${issuer} does not answer (${Network.networkReason(error)})`, todo)];
  }
}

function configFindings(risks: readonly string[]): readonly Finding[] {
  const read = fine('configuration', 'it is valid');
  return [read, ...risks.map((risk) => warning('configuration', risk, '`basa config print` explains each key'))];
}

async function isOurs({ listen, tls }: { readonly listen: { host: string; port: number }; readonly tls?: unknown }) {
  const host = listen.host === '0.0.0.0' || listen.host === '::' ? 'localhost' : listen.host;
  const url = `${tls === undefined ? 'http' : 'https'}://${host}:${listen.port}/v1/health`;
  return new Promise<boolean>((resolve) => {
    // Checks only that it answers: devices judge its certificate, which may be self-signed.
    const asked = tls === undefined ? httpGet(url) : httpsGet(url, { rejectUnauthorized: false });
    asked.setTimeout(PATIENCE_MS, () => asked.destroy());
    asked.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('error', () => resolve(false));
  });
}

interface Asked {
  readonly url: string;
  readonly publicKey: Uint8Array;
}

async function askAuthority(authority: Asked): Promise<readonly Finding[]> {
  const { url, publicKey } = authority;
  const asked = Date.now();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let about: { readonly publicKey?: unknown; readonly time?: unknown };
  try {
    about = (await (await fetch(new URL(AUTHORITY_PATH.about, url), { signal })).json()) as typeof about;
  } catch (error) {
    const why = Network.networkReason(error);
    const isAnswering = Network.isCertificateReason(why);
    const says = isAnswering ? `the certificate of ${url} is not trusted (${why})` : `${url} does not answer (${why})`;
    const todo = isAnswering
      ? Network.networkAdvice(error)
      : 'start the authority, or check authorityUrl and the network';
    return [failed('authority', says, todo)];
  }
  if (about.publicKey !== toHex(publicKey)) {
    const todo = `if ${url} is the right address, ask its operator for the key; do not copy the key that the address itself reports`;
    return [failed('authority', `the key of ${url} is not the one in authorityKey`, todo)];
  }
  const half = (Date.now() - asked) / 2;
  return [
    fine('authority', `${url} answers and has the key in authorityKey`),
    clockFinding('the authority', Number(about.time) - asked - half),
  ];
}

interface RevokedAt {
  readonly url: string;
  /** Undefined if it does not answer, or did not sign its list. */
  readonly users: readonly string[] | undefined;
}

async function revocationsOf({ url, publicKey }: Asked): Promise<RevokedAt> {
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(new URL(AUTHORITY_PATH.revocations, url), { signal });
    const told = Devices.Revocations.decode(new Uint8Array(await answer.arrayBuffer()));
    return {
      url,
      users: isSigned(nodeSuite, Devices.Revocations, told, publicKey) ? told.users.map(toHex) : undefined,
    };
  } catch {
    return { url, users: undefined };
  }
}

/** An authority that was restored has forgotten the newest revocations: the server and the other authorities still know them. */
function revocationFindings(known: readonly Uint8Array[], lists: readonly RevokedAt[]): readonly Finding[] {
  const all = new Set([...known.map(toHex), ...lists.flatMap(({ users = [] }) => users)]);
  return lists.flatMap(({ url, users }) => {
    if (users === undefined) return [];
    const missing = [...all].filter((user) => !users.includes(user));
    const [first] = missing;
    if (first === undefined)
      return [fine('revocations', `${url} lists all ${all.size} revoked devices that are known`)];
    const says = `${url} does not list ${missing.length} of the ${all.size} devices that the server or another authority knows as revoked`;
    const todo = `if this authority was restored, revoke them there again, the first with \`basa keys revoke --user ${first}\``;
    return [warning('revocations', says, todo)];
  });
}

const MIN_NODE = [20, 19] as const;
const LOW_BYTES = 2 ** 30;
const TOO_LOW_BYTES = 64 * 2 ** 20;
const FLUSHES = 9;
const SLOW_FLUSH_MS = 50;

export function checkVersions(version: string): readonly Finding[] {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isNew = major > MIN_NODE[0] || (major === MIN_NODE[0] && minor >= MIN_NODE[1]);
  const node = isNew
    ? fine('node', process.version)
    : failed('node', process.version, `install Node ${MIN_NODE.join('.')} or newer`);
  return [node, fine('basa', version)];
}

async function checkFolder(folder: string): Promise<readonly Finding[]> {
  const place = nearest(resolve(folder));
  return [await checkPermissions(folder), await checkSpace(place), await checkFlush(place)];
}

async function checkPermissions(folder: string): Promise<Finding> {
  const found = await stat(folder).catch(() => undefined);
  if (found === undefined) return fine('data folder', `${folder} does not exist yet; the service creates it`);
  if (!found.isDirectory())
    return failed('data folder', `${folder} is a file`, 'set dataFolder to the path of a folder');
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return warning('data folder', `users other than its owner can open ${folder}`, `chmod 700 ${folder}`);
  return fine('data folder', folder);
}

async function checkSpace(place: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const says = `${(free / 2 ** 30).toFixed(1)} GiB free in ${place}`;
  const todo = 'free some space, or move dataFolder; lower keepModels or keepBatchesDays so that the server keeps less';
  if (free < TOO_LOW_BYTES) return failed('disk space', says, todo);
  return free < LOW_BYTES ? warning('disk space', says, todo) : fine('disk space', says);
}

/** Measures the time the disk takes to make a write durable: every acknowledgement waits for it. */
async function checkFlush(place: string): Promise<Finding> {
  let folder: string;
  try {
    folder = await mkdtemp(join(place, '.basa-doctor-'));
  } catch (error) {
    const why = `${place} cannot be written (${(error as NodeJS.ErrnoException).code})`;
    return failed('disk flush', why, 'run `basa doctor` as the user of the service, and check the owner of the folder');
  }
  try {
    const file = await open(join(folder, 'flush'), 'w', 0o600);
    const times: number[] = [];
    for (let n = 0; n < FLUSHES; n++) {
      const start = performance.now();
      await file.write(new Uint8Array(4096));
      await file.sync();
      times.push(performance.now() - start);
    }
    await file.close();
    const median = times.sort((a, b) => a - b)[FLUSHES >> 1] ?? 0;
    const says = `a flush in ${place} takes ${median.toFixed(1)} ms`;
    if (median > SLOW_FLUSH_MS)
      return warning('disk flush', says, 'use a local disk: every acknowledgement of an update waits for a flush');
    return fine('disk flush', says);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `answers`: true if the service itself holds the port. */
async function checkPort(
  { host, port }: { readonly host: string; readonly port: number },
  answers: () => Promise<boolean>,
): Promise<Finding> {
  if (port === 0) return fine('port', 'the service takes any free port');
  const code = await new Promise<string | undefined>((done) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => done(error.code));
    probe.listen({ host, port }, () => probe.close(() => done(undefined)));
  });
  if (code === undefined) return fine('port', `${host}:${port} is free`);
  if (code === 'EADDRINUSE' && (await answers())) return fine('port', `the service is running at ${host}:${port}`);
  const todo =
    code === 'EADDRINUSE'
      ? 'stop the program that uses it, or choose another port'
      : 'check the settings host and port';
  return failed('port', `${host}:${port} cannot be used (${code})`, todo);
}

function nearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearest(dirname(path));
}

const CHECK = 'tokens';
/** Of an authority: the roles that never leave its owner's hands. */
const OWNERS: ReadonlySet<string> = new Set(['enrol', 'revoke', 'admin']);

/** `checked`: the service whose configuration is read here, so that its side is in this party's hands. */
export async function checkParties(
  environment: Readonly<Record<string, string | undefined>>,
  checked: ServiceName | undefined,
): Promise<readonly Finding[]> {
  const { server, authorities, unknown } = await heldIn(environment);
  const servers = checked === 'server' ? ['the server of this configuration'] : server;
  const owned =
    checked === 'authority' && authorities.length === 0 ? ['the authority of this configuration'] : authorities;
  const todo = 'let each owner keep its own tokens, and give the operator of the task only those with the role tasks';
  const findings = unknown.map((url) =>
    warning(CHECK, `${url} did not tell the roles of its token`, 'start it, or check the token and the address'),
  );
  if (servers.length > 0 && owned.length > 0) {
    const says = `one party holds ${servers.join()} and lets devices in at ${owned.join(', ')}: it could put its own devices beside a victim`;
    findings.push(warning(CHECK, says, todo));
  }
  if (owned.length > 1)
    findings.push(warning(CHECK, `one party is the owner of ${owned.length} authorities: together they collude`, todo));
  return findings.length === 0 && server.length + authorities.length > 0
    ? [fine(CHECK, 'they are of one side only')]
    : findings;
}

/** The sides that the tokens of this terminal operate. */
async function heldIn(environment: Readonly<Record<string, string | undefined>>) {
  const { BASA_SERVER: serverUrl, BASA_OPERATOR_TOKEN: token } = environment;
  const { BASA_AUTHORITY: urls = '', BASA_AUTHORITY_TOKEN: tokens = '' } = environment;
  const timeoutMs = PATIENCE_MS;
  const servers =
    serverUrl === undefined || token === undefined ? [] : [new ServerOperator({ url: serverUrl, token, timeoutMs })];
  const owners = tokens.split(',').flatMap((one, n) => {
    const url = urls.split(',')[n] ?? '';
    return url === '' || one === '' ? [] : [{ url, operator: new AuthorityOperator({ url, token: one, timeoutMs }) }];
  });
  const asked = [...servers.map((operator) => ({ url: serverUrl ?? '', operator })), ...owners];
  const held = await Promise.all(
    asked.map(async ({ url, operator }) => ({ url, roles: await operator.roles().catch(() => undefined) })),
  );
  const isOwner = (role: string): boolean => OWNERS.has(role);
  return {
    server: held
      .slice(0, servers.length)
      .flatMap(({ url, roles }) => (roles?.includes('operator') ? [`the server ${url}`] : [])),
    authorities: held.slice(servers.length).flatMap(({ url, roles }) => (roles?.some(isOwner) ? [url] : [])),
    unknown: held.flatMap(({ url, roles }) => (roles === undefined ? [url] : [])),
  };
}
