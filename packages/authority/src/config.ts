/** The configuration of an authority process: a JSON file, BASA_AUTHORITY_ variables, or both. */
import type { ConfigSources } from '@basa/service';
import { closed, commonKeys, commonOptions, rateLimit, readConfig, StartError, secretText, Type } from '@basa/service';
import type { AuthorityOptions } from './create-authority.ts';
import type { VaultSecret } from './vault.ts';

const HOUR_MS = 3_600_000;

/** What `docs/reference/configuration.md` is written from. */
export const authorityConfigSchema = Type.Object(
  {
    ...commonKeys,
    dataFolder: Type.Optional(
      Type.String({ minLength: 1, description: 'a folder of its own, on a local disk; or databaseUrl' }),
    ),
    databaseUrl: Type.Optional(
      secretText('postgres://user:password@host/database, instead of a data folder, for one or several nodes'),
    ),
    passphrase: Type.Optional(secretText('what the keys at rest are sealed with; or keyFile')),
    keyFile: Type.Optional(
      Type.String({ description: 'path of 32 random bytes that the keys at rest are sealed with; or passphrase' }),
    ),
    witnessFile: Type.Optional(
      Type.String({
        description:
          'the newest head of the log, outside of the data folder, best on another disk, one for each node (`<dataFolder>.witness`)',
      }),
    ),
    newNode: Type.Boolean({
      default: false,
      description: "this node has no witness yet; the operator's word that the database is the newest there was",
    }),
    epochHours: Type.Number({ exclusiveMinimum: 0, default: 24, description: 'life of a master key of a task' }),
    certificateDays: Type.Number({ exclusiveMinimum: 0, default: 365, description: 'life of an enrolment' }),
    tickMs: Type.Optional(Type.Integer({ minimum: 10, description: 'how often overdue buffers are aborted (5000)' })),
    keyLimit: Type.Optional(rateLimit('key requests of one device (20, then 2 a second)')),
  },
  closed,
);

/** Where the configuration comes from. */
export type AuthorityPlaces = Omit<ConfigSources, 'prefix'>;

const keysOf = (places: AuthorityPlaces) => readConfig(authorityConfigSchema, { ...places, prefix: 'BASA_AUTHORITY_' });

/** For work on the tables alone, which needs none of the authority's secrets but this one. */
export function readDatabaseUrl(places: AuthorityPlaces): string | undefined {
  return keysOf(places).databaseUrl;
}

/** Throws a `StartError` that names the key. */
export function readAuthorityConfig(places: AuthorityPlaces): AuthorityOptions {
  const config = keysOf(places);
  const { dataFolder, databaseUrl, witnessFile, newNode, epochHours, certificateDays, tickMs, keyLimit } = config;
  const { dataFolder: _, ...common } = commonOptions({ ...config, dataFolder: dataFolder ?? '' });
  return {
    ...common,
    newNode,
    ...(dataFolder !== undefined && { dataFolder }),
    ...(databaseUrl !== undefined && { databaseUrl }),
    secret: secretOf(config),
    epochMs: epochHours * HOUR_MS,
    certificateMs: certificateDays * 24 * HOUR_MS,
    ...(witnessFile !== undefined && { witness: witnessFile }),
    ...(tickMs !== undefined && { tickMs }),
    ...(keyLimit !== undefined && { keyLimit }),
  };
}

function secretOf({ passphrase, keyFile }: { readonly passphrase?: string; readonly keyFile?: string }): VaultSecret {
  if (passphrase !== undefined && keyFile === undefined) return { passphrase };
  if (keyFile !== undefined && passphrase === undefined) return { keyFile };
  const sentence = 'give either passphrase (BASA_AUTHORITY_PASSPHRASE, or passphraseFile) or keyFile';
  throw new StartError('configuration', `configuration: ${sentence}`);
}
