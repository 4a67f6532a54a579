/** The configuration of an authority process: a JSON file, BASA_AUTHORITY_ variables, settings of the command line, or all of them. */
import { existsSync } from 'node:fs';
import { Network } from '@basa/protocol/http';
import {
  AUTHORITY_ROLES,
  type CheckedConfig,
  type ConfigPlaces,
  configSchema,
  rateLimit,
  secretText,
  serviceConfig,
  Type,
  wrongConfiguration,
} from '@basa/service';
import type { VaultSecret } from '../store/vault.ts';
import { AUTHORITY_DEFAULTS, type AuthorityOptions } from './create-authority.ts';

/** `basa config print` and the page of all keys on the site are written from this. */
export const authorityConfigSchema = configSchema(AUTHORITY_ROLES, {
  passphrase: Type.Optional(secretText('passphrase that encrypts the keys of the authority; or use keyFile')),
  keyFile: Type.Optional(
    Type.String({
      description: 'file with 32 random bytes that encrypt the keys of the authority; or use passphrase',
    }),
  ),
  enrolmentUrl: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'address of your directory of users: it is asked whether a device may enrol, instead of tokens and lists of keys',
      examples: ['https://users.example.org/may-enrol'],
    }),
  ),
  tickMs: Type.Integer({
    minimum: 10,
    default: AUTHORITY_DEFAULTS.tickMs,
    description: 'interval at which epochs are opened and ended',
  }),
  workers: Type.Integer({
    minimum: 1,
    default: AUTHORITY_DEFAULTS.workers,
    description: 'number of threads that examine uploads and sum masks',
  }),
  keyLimit: rateLimit(
    'limit for requests of one device: the status of uploads, and keys in paper mode',
    AUTHORITY_DEFAULTS.keyLimit,
  ),
});

export const AUTHORITY_PREFIX = 'BASA_AUTHORITY_';

type Config = Type.Static<typeof authorityConfigSchema>;

const config = serviceConfig({
  schema: authorityConfigSchema,
  prefix: AUTHORITY_PREFIX,
  optionsOf({ dataFolder, enrolmentUrl, ...given }: Config) {
    const { tickMs, keyLimit, workers } = given;
    return {
      dataFolder: dataFolder ?? missingFolder(),
      tickMs,
      keyLimit,
      workers,
      secret: secretOf(given),
      ...(enrolmentUrl !== undefined && { enrolmentHook: { url: safeUrl(enrolmentUrl) } }),
    };
  },
  risksOf({ keyFile }) {
    return {
      secretFiles: { keyFile },
      risks: [
        keyFile !== undefined &&
          !existsSync(keyFile) &&
          `keyFile: ${keyFile} does not exist, so the authority would not start; restore or create it`,
      ],
    };
  },
});

export function readAuthorityConfig(places: ConfigPlaces): AuthorityOptions {
  return config.read(places);
}

export function checkAuthorityConfig(places: ConfigPlaces): CheckedConfig<Config> {
  return config.check(places);
}

/** Whoever can change the answers on their way lets devices in. */
function safeUrl(url: string): string {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || Network.isLoopback(hostname)) return url;
  throw wrongConfiguration('enrolmentUrl is plain http to another machine, which could let anybody in; use https');
}

function missingFolder(): never {
  throw wrongConfiguration('dataFolder is missing; set it');
}

function secretOf({ passphrase, keyFile }: { readonly passphrase?: string; readonly keyFile?: string }): VaultSecret {
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  throw wrongConfiguration('set exactly one of passphrase (BASA_AUTHORITY_PASSPHRASE, or passphraseFile) and keyFile');
}
