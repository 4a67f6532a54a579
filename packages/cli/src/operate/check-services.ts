/** Checks of a service: its configuration, its records, and the services it depends on. */
import { existsSync } from 'node:fs';
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { TaskFleet } from '@basa/authority';
import { isCertificateReason, networkAdvice, networkReason } from '@basa/protocol';
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
    const { missing, clockAheadMs } = found;
    const blobs =
      missing.length === 0
        ? fine('blobs', 'all blobs that the records name exist')
        : failed(
            'blobs',
            `${missing.length} blobs are missing, the first is ${missing[0]}`,
            'restore the newest backup',
          );
    return [fine('records', 'they have the format of this version'), blobs, clockFinding('the database', clockAheadMs)];
  });
  return [
    ...configFindings(risks),
    await checkPort(options.listen, () => isOurs(options)),
    ...(await checkFolder(options.dataFolder)),
    ...records,
    ...(await Promise.all(options.authorities.map(askAuthority))).flat(),
  ];
}

async function checkAuthority(places: Places): Promise<readonly Finding[]> {
  const { checkAuthorityConfig, examineAuthority, readAuthorityConfig } = await import('@basa/authority');
  const { risks } = checkAuthorityConfig(places);
  const options = readAuthorityConfig(places);
  const { listen = { host: '127.0.0.1', port: 0 }, dataFolder } = options;
  const records = await tried('records', async () => {
    const { records: found, witnessed } = await examineAuthority(options);
    if (found === undefined)
      return [
        witnessed === undefined
          ? fine('records', 'there are none yet: this is a new authority')
          : failed(
              'records',
              'there are none, although a witness exists',
              'restore the data, or move the witness away to start as a new authority',
            ),
      ];
    const length = `${found.logLength} records in the log`;
    return [fine('records', length), witnessFinding(found.logLength, witnessed), ...found.fleets.map(fleetFinding)];
  });
  return [
    ...configFindings(risks),
    ...keyFileFindings(options.secret),
    await checkPort(listen, () => isOurs({ ...options, listen })),
    ...(await checkFolder(dataFolder)),
    ...records,
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

function witnessFinding(logLength: number, witnessed: number | undefined): Finding {
  if (witnessed === undefined && logLength > 0)
    return warning('witness', 'there is no witness', 'when the authority starts, it assumes a rollback');
  if ((witnessed ?? 0) > logLength)
    return warning(
      'witness',
      `it has seen ${witnessed} records, but the log has ${logLength}`,
      'the log was rolled back; when the authority starts, it gives up what waits for a sum',
    );
  return fine('witness', `it has seen ${witnessed ?? 0} records`);
}

/** Without its key file an authority does not start; a passphrase cannot be checked here. */
function keyFileFindings(secret: { readonly keyFile: string } | object): readonly Finding[] {
  if (!('keyFile' in secret)) return [];
  if (existsSync(secret.keyFile)) return [fine('key file', secret.keyFile)];
  const todo = `put the old key file back, or create one for a new authority: openssl rand -out ${secret.keyFile} 32; chmod 600 ${secret.keyFile}`;
  return [failed('key file', `${secret.keyFile} does not exist`, todo)];
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

async function askAuthority(authority: {
  readonly url: string;
  readonly publicKey: Uint8Array;
}): Promise<readonly Finding[]> {
  const { AUTHORITY_PATH } = await import('@basa/protocol');
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
