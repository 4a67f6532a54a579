/** Risky but valid settings of a configuration, one sentence each, for `basa config check`. */
import { statSync } from 'node:fs';
import { isLoopback } from '@basa/protocol';
import { type ConfigSources, type GatheredConfig, variableOf } from './config.ts';

interface CommonValues {
  readonly host: string;
  readonly tlsCertFile?: string;
  readonly tlsKeyFile?: string;
  readonly hosts: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly operators: readonly unknown[];
  readonly trustedProxies: number;
  readonly unsafePaperMode: boolean;
}

/** Returns the risks of a configuration of either service. `more`: other files that only their owner should read, by key. */
export function commonRisks(
  { config, secretFiles }: GatheredConfig<CommonValues>,
  more: Readonly<Record<string, string | undefined>>,
): readonly string[] {
  const { host, hosts, tlsCertFile, corsOrigins, operators, trustedProxies, unsafePaperMode } = config;
  const isOpen = !isLoopback(host) && tlsCertFile === undefined;
  return [
    isOpen &&
      trustedProxies === 0 &&
      `host is ${host} without TLS: others on the network can read tokens and released keys; set tlsKeyFile and tlsCertFile`,
    isOpen &&
      trustedProxies > 0 &&
      `host is ${host} without TLS: make sure that only the proxy in front of the service can reach it`,
    (!isLoopback(host) || trustedProxies > 0) &&
      hosts.length === 0 &&
      'hosts is empty: requests for a host name get `host-refused`; list the host names of the service',
    corsOrigins.includes('*') && 'corsOrigins contains "*", which matches no page; list each origin',
    operators.length === 0 && 'operators is empty: nobody can create tasks or enrol devices',
    unsafePaperMode && 'unsafePaperMode is on: tasks in that mode do not protect updates',
    ...Object.entries({ ...secretFiles, ...more, tlsKeyFile: config.tlsKeyFile }).map(([key, path]) =>
      openFile(key, path),
    ),
  ].filter((risk) => typeof risk === 'string');
}

/** Returns a sentence if users other than its owner may read the file. */
function openFile(key: string, path: string | undefined): string | undefined {
  if (path === undefined || process.platform === 'win32') return undefined;
  const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
  return (mode & 0o077) === 0 ? undefined : `${key}: other users can read ${path}; run chmod 600 ${path}`;
}

/** The operator of a server could enrol devices with a token that the authority accepts, too. */
export function sharedTokenRisk({ environment }: Pick<ConfigSources, 'environment'>): string | undefined {
  const [server = '', authority = ''] = ['BASA_SERVER_', 'BASA_AUTHORITY_'].map(
    (prefix) => environment[variableOf(prefix, 'operators')],
  );
  if (!(server.match(/[0-9a-f]{64}/g) ?? []).some((hash) => authority.includes(hash))) return undefined;
  return 'server and authority accept the same operator token, so a server that learns it can enrol its own devices; use one token for each';
}
