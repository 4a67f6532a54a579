/** The authority as a process: configuration, start, stop, exit code. */
import { readFileSync } from 'node:fs';
import type { ConfigSources } from '@basa/service';
import { closed, hexText, LOG_LEVELS, readConfig, runService, StartError, secretText, Type } from '@basa/service';
import type { AuthorityOptions } from './create-authority.ts';
import { createAuthority } from './create-authority.ts';

const rateLimit = Type.Object(
  { burst: Type.Number({ minimum: 1 }), perSecond: Type.Number({ exclusiveMinimum: 0 }) },
  closed,
);
const role = Type.Union([Type.Literal('operator'), Type.Literal('auditor')]);

/** The keys of the configuration file; BASA_AUTHORITY_DATA_FOLDER and so on set them as well. */
const configSchema = Type.Object(
  {
    dataFolder: Type.String({ minLength: 1 }),
    passphrase: Type.Optional(secretText('what the keys at rest are sealed with, or keyFile')),
    keyFile: Type.Optional(Type.String({ description: 'path of 32 random bytes' })),
    witnessFile: Type.Optional(Type.String({ description: 'outside of the data folder' })),
    host: Type.String({ default: '127.0.0.1' }),
    port: Type.Integer({ default: 7801, minimum: 0, maximum: 65_535 }),
    operators: Type.Array(Type.Object({ tokenHash: hexText(32), roles: Type.Array(role) }, closed), { default: [] }),
    corsOrigins: Type.Array(Type.String(), { default: [] }),
    tlsKeyFile: Type.Optional(Type.String()),
    tlsCertFile: Type.Optional(Type.String()),
    trustedProxies: Type.Integer({ default: 0, minimum: 0 }),
    logLevel: Type.Union(
      LOG_LEVELS.map((level) => Type.Literal(level)),
      { default: 'info' },
    ),
    epochHours: Type.Number({ default: 24, exclusiveMinimum: 0 }),
    certificateDays: Type.Number({ default: 365, exclusiveMinimum: 0 }),
    addressLimit: Type.Optional(rateLimit),
    deviceLimit: Type.Optional(rateLimit),
    keyLimit: Type.Optional(rateLimit),
    unsafePaperMode: Type.Boolean({ default: false }),
  },
  closed,
);

export type AuthoritySources = Omit<ConfigSources, 'prefix'>;

/** Resolves with the exit code once the authority has ended. */
export function runAuthority(sources: AuthoritySources): Promise<number> {
  return runService({ name: 'basa-authority', start: () => createAuthority(optionsOf(sources)) });
}

function optionsOf(sources: AuthoritySources): AuthorityOptions {
  const config = readConfig(configSchema, { ...sources, prefix: 'BASA_AUTHORITY_' });
  const { dataFolder, witnessFile, host, port, epochHours, certificateDays, keyLimit, unsafePaperMode } = config;
  const { operators, corsOrigins, trustedProxies, addressLimit, deviceLimit } = config;
  const tls = tlsOf(config);
  return {
    dataFolder,
    secret: secretOf(config),
    ...(witnessFile === undefined ? {} : { witness: witnessFile }),
    address: { host, port },
    epochMs: epochHours * 3_600_000,
    certificateMs: certificateDays * 86_400_000,
    unsafePaperMode,
    ...(keyLimit === undefined ? {} : { keyLimit }),
    service: {
      operators,
      corsOrigins,
      trustedProxies,
      log: { level: config.logLevel },
      ...(addressLimit === undefined ? {} : { addressLimit }),
      ...(deviceLimit === undefined ? {} : { deviceLimit }),
      ...(tls === undefined ? {} : { tls }),
    },
  };
}

function secretOf(config: { passphrase?: string; keyFile?: string }): AuthorityOptions['secret'] {
  const { passphrase, keyFile } = config;
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  throw new StartError(
    'configuration',
    'configuration: give either a passphrase (BASA_AUTHORITY_PASSPHRASE or passphraseFile) or a keyFile',
  );
}

function tlsOf(config: { tlsKeyFile?: string; tlsCertFile?: string }): { key: Buffer; cert: Buffer } | undefined {
  const { tlsKeyFile, tlsCertFile } = config;
  if (tlsKeyFile === undefined && tlsCertFile === undefined) return undefined;
  if (tlsKeyFile === undefined || tlsCertFile === undefined) {
    throw new StartError('configuration', 'configuration: tlsKeyFile and tlsCertFile go together');
  }
  try {
    return { key: readFileSync(tlsKeyFile), cert: readFileSync(tlsCertFile) };
  } catch (error) {
    throw new StartError('configuration', `configuration: tlsKeyFile or tlsCertFile: ${(error as Error).message}`);
  }
}
