/** The result of a check: fine, worth a look, or blocking; the last two with advice. The certificate is checked here, for `basa doctor` and `basa config check`. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface Finding {
  readonly check: string;
  readonly state: 'fine' | 'warning' | 'failed';
  readonly says: string;
  readonly todo?: string;
}

export function fine(check: string, says: string): Finding {
  return { check, state: 'fine', says };
}

export function warning(check: string, says: string, todo: string): Finding {
  return { check, state: 'warning', says, todo };
}

export function failed(check: string, says: string, todo: string): Finding {
  return { check, state: 'failed', says, todo };
}

const LATE_MS = 30_000;
/** The largest clock difference that a service accepts from a signer. */
const TOO_LATE_MS = 300_000;

export function clockFinding(check: string, aheadMs: number): Finding {
  const says = `${check} is ${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine`;
  const todo = 'set both clocks with NTP; signed requests fail if the clocks differ by more than 5 minutes';
  if (Math.abs(aheadMs) > TOO_LATE_MS) return failed(`clock of ${check}`, says, todo);
  if (Math.abs(aheadMs) > LATE_MS) return warning(`clock of ${check}`, says, todo);
  return fine(`clock of ${check}`, says);
}

/** Any error that would stop a service is a failed check here. */
export async function tried(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    const { name, message } = error as Error;
    const todo =
      name === 'StartError'
        ? 'follow this advice: otherwise the service does not start'
        : 'check that the database is running and can be reached';
    return [failed(check, message.replace(`${check}: `, ''), todo)];
  }
}

/** The pair of the configuration, the names that it is for, and its dates. */
export async function tlsFindings(
  config: Readonly<Record<string, unknown>>,
  now = Date.now(),
): Promise<readonly Finding[]> {
  const { tlsKeyFile, tlsCertFile, host, hosts = [] } = config;
  if (typeof tlsKeyFile !== 'string' || typeof tlsCertFile !== 'string') return [];
  return tried('certificate', async () => {
    const cert = new X509Certificate(await readFile(tlsCertFile));
    if (!cert.checkPrivateKey(createPrivateKey(await readFile(tlsKeyFile))))
      return [failed('certificate', `${tlsKeyFile} is not the key of ${tlsCertFile}`, 'set both files of one pair')];
    const names = [host, ...(hosts as readonly unknown[])].map(String).filter((name) => !isEverywhere(name));
    const others = names.filter((name) => (isIP(name) === 0 ? cert.checkHost(name) : cert.checkIP(name)) === undefined);
    const refused = 'clients that use this name refuse it: get one for all names in host and hosts';
    const found: Finding[] = others.map((name) => warning('certificate', `it is not for ${name}`, refused));
    const days = Math.floor((Date.parse(cert.validTo) - now) / DAY_MS);
    const says = `it ends on ${new Date(cert.validTo).toISOString().slice(0, 10)}, in ${days} days`;
    const renew = 'renew it, and restart the service: it reads the files when it starts';
    const early = 'use one that is valid now, or check the clock';
    if (days < 0) found.push(failed('certificate', `it ended on ${cert.validTo}`, renew));
    else if (Date.parse(cert.validFrom) > now)
      found.push(failed('certificate', `it begins on ${cert.validFrom}`, early));
    else found.push(days < FEW_DAYS ? warning('certificate', says, renew) : fine('certificate', says));
    return found;
  });
}

const DAY_MS = 86_400_000;
const FEW_DAYS = 14;

/** Addresses to listen at that are no names. */
function isEverywhere(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
