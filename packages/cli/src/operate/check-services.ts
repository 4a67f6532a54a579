/** Checks of a service: its configuration, its records, and the services it depends on. */
import { existsSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { TaskFleet } from '@basa/authority';
import { isCertificateReason, networkAdvice, networkReason } from '@basa/protocol/http';
import type { Places, ServiceName } from '../flags/places.ts';
import { checkFolder, checkPort } from './check-machine.ts';
import { clockFinding, type Finding, failed, fine, warning } from './finding.ts';

const PATIENCE_MS = 10_000;

export function checkService(service: ServiceName, places: Places): Promise<readonly Finding[]> {
  return tried('configuration', () => (service === 'server' ? checkServer(places) : checkAuthority(places)));
}

async function checkServer(places: Places): Promise<readonly Finding[]> {
  const { checkServerConfig, examineServer, readServerConfig } = await import('@basa/server');
  const { risks } = checkServerConfig(places);
  const options = readServerConfig(places);
  const records = await tried('records', async () => {
    const { records: found } = await examineServer(options);
    if (found === undefined) return [fine('records', 'there are none yet: this is a new server')];
    const { missing, clockAheadMs, revoked } = found;
    const blobs =
      missing.length === 0
        ? fine('blobs', 'all blobs that the records name exist')
        : failed(
            'blobs',
            `${missing.length} blobs are missing, the first is ${missing[0]}`,
            'restore the newest backup',
          );
    return [
      fine('records', 'they have the format of this version'),
      blobs,
      clockFinding('the database', clockAheadMs),
      ...revocationFindings(revoked, await Promise.all(options.authorities.map(revocationsOf))),
    ];
  });
  return [
    ...configFindings(risks),
    await checkPort(options.listen, () => isOurs(options)),
    ...(await checkFolder(options.dataFolder)),
    ...records,
    ...(await issuerFindings(options.signIn)),
    ...(await Promise.all(options.authorities.map(askAuthority))).flat(),
  ];
}

async function checkAuthority(places: Places): Promise<readonly Finding[]> {
  const { checkAuthorityConfig, examineAuthority, readAuthorityConfig } = await import('@basa/authority');
  const { risks } = checkAuthorityConfig(places);
  const options = readAuthorityConfig(places);
  const { listen = { host: '127.0.0.1', port: 0 }, dataFolder } = options;
  const records = await tried('records', async () => {
    const fleets = await examineAuthority(options);
    if (fleets === undefined) return [fine('records', 'there are none yet: this is a new authority')];
    return [fine('records', 'they have the format of this version'), ...fleets.map(fleetFinding)];
  });
  return [
    ...configFindings(risks),
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
  const says = `${devices} enrolled; a sum needs ${minimum} to ${bufferSize} updates`;
  if (devices < minimum)
    return warning(
      check,
      says,
      `enrol ${minimum - devices} more; until then, there is no sum and no new version of the model`,
    );
  const isSmall = devices < 2 * bufferSize;
  return fine(
    check,
    isSmall ? `${says}; with fewer than ${2 * bufferSize} devices, only one batch fills at a time` : says,
  );
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
    return [failed('sign-in', `${issuer} does not answer (${networkReason(error)})`, todo)];
  }
}

function configFindings(risks: readonly string[]): readonly Finding[] {
  const read = fine('configuration', 'it is valid');
  return [read, ...risks.map((risk) => warning('configuration', risk, '`basa config print` explains each key'))];
}

/** Any error that would stop a service is a failed check here. */
async function tried(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    const isSaid = name === 'StartError';
    const todo = isSaid
      ? 'follow this advice: otherwise the service does not start'
      : 'check that the database is running and can be reached';
    return [failed(check, message.replace(`${check}: `, ''), todo)];
  }
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
  const { AUTHORITY_PATH } = await import('@basa/protocol/http');
  const { toHex } = await import('@basa/masking');
  const { url, publicKey } = authority;
  const asked = Date.now();
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let about: { readonly publicKey?: unknown; readonly time?: unknown };
  try {
    about = (await (await fetch(new URL(AUTHORITY_PATH.about, url), { signal })).json()) as typeof about;
  } catch (error) {
    const why = networkReason(error);
    const isAnswering = isCertificateReason(why);
    const says = isAnswering ? `the certificate of ${url} is not trusted (${why})` : `${url} does not answer (${why})`;
    const todo = isAnswering ? networkAdvice(error) : 'start the authority, or check authorityUrl and the network';
    return [failed('authority', says, todo)];
  }
  if (about.publicKey !== toHex(publicKey))
    return [
      failed(
        'authority',
        `the key of ${url} is not the one in authorityKey`,
        `if ${url} is the right address, ask its operator for the key; do not copy the key that the address itself reports`,
      ),
    ];
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
  const { AUTHORITY_PATH } = await import('@basa/protocol/http');
  const { isSigned, revocationsCodec } = await import('@basa/protocol/wire');
  const { toHex } = await import('@basa/masking');
  const { nodeSuite } = await import('@basa/runtime/node');
  try {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const answer = await fetch(new URL(AUTHORITY_PATH.revocations, url), { signal });
    const told = revocationsCodec.decode(new Uint8Array(await answer.arrayBuffer()));
    return { url, users: isSigned(nodeSuite, revocationsCodec, told, publicKey) ? told.users.map(toHex) : undefined };
  } catch {
    return { url, users: undefined };
  }
}

/** An authority that was restored has forgotten the newest revocations: the server and the other authorities still know them. */
function revocationFindings(known: readonly Uint8Array[], lists: readonly RevokedAt[]): readonly Finding[] {
  const all = new Set([
    ...known.map((user) => Buffer.from(user).toString('hex')),
    ...lists.flatMap(({ users = [] }) => users),
  ]);
  return lists.flatMap(({ url, users }) => {
    if (users === undefined) return [];
    const missing = [...all].filter((user) => !users.includes(user));
    const [first] = missing;
    if (first === undefined)
      return [fine('revocations', `${url} lists all ${all.size} revoked devices that are known`)];
    const says = `${url} does not list ${missing.length} of the ${all.size} devices that the server or another authority knows as revoked`;
    const todo = `if this authority was restored, revoke them there again, the first with: basa keys revoke --user ${first}`;
    return [warning('revocations', says, todo)];
  });
}
