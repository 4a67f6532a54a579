/**
 * Work on the folder of an authority beside its process: backups, the way back, an examination for `basa doctor`, and another secret for
 * the keys.
 */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { taskIdOf } from '@basa/protocol/policy';
import { nodeRandomBytes, nodeSuite } from '@basa/runtime/node';
import {
  backupFolder,
  type ConfigPlaces,
  type Manifest,
  readDatabase,
  readOnlySqlite,
  restoreFolder,
  StartError,
} from '@basa/service';
import { paperKeyName } from '../keys/paper-keys.ts';
import { openStored, SIGNING_KEY } from '../keys/unlock.ts';
import { AUDIT_FILE } from '../steps/audit.ts';
import { AUTHORITY_DATABASE, type AuthorityStore, AuthorityTables, openStore } from '../store/store.ts';
import { freshParameters, olderVault, openVault, type Vault, type VaultSecret } from '../store/vault.ts';
import { readAuthorityConfig } from './config.ts';
import type { AuthorityOptions } from './create-authority.ts';

// Backs up an authority: its database and its audit file, but no unit. A restored authority is silent about earlier epochs, and opens a new one.

export function backupAuthority(places: ConfigPlaces, to: string): Promise<Manifest> {
  const dataFolder = folderOf(places);
  const files = existsSync(join(dataFolder, AUDIT_FILE)) ? [AUDIT_FILE] : []; // the first enrolment makes it
  return backupFolder({ dataFolder, to, database: AUTHORITY_DATABASE, files });
}

export function restoreAuthority(places: ConfigPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'authority', from, dataFolder: folderOf(places) });
}

function folderOf(places: ConfigPlaces): string {
  return readAuthorityConfig(places).dataFolder;
}

// Reads the database of an authority while it may be running, for `basa doctor`.

export interface TaskFleet {
  readonly name: string;
  readonly bufferSize: number;
  readonly minimum: number;
  /** Enrolled and not revoked. */
  readonly devices: number;
}

/** Undefined if there is no database yet. Throws a `StartError` if it cannot be used. */
export async function examineAuthority({ dataFolder }: AuthorityOptions): Promise<readonly TaskFleet[] | undefined> {
  if (!existsSync(join(dataFolder, 'basa.sqlite'))) return undefined;
  const database = readOnlySqlite(readDatabase(dataFolder, AUTHORITY_DATABASE));
  try {
    return await database.transaction(async (session) => {
      const tables = new AuthorityTables(session);
      const fleets: TaskFleet[] = [];
      for (const policy of await tables.policies()) {
        const { bufferSize, minimum } = policy;
        const name = Buffer.from(policy.name).toString('utf8');
        fleets.push({ name, bufferSize, minimum, devices: await tables.countDevices(taskIdOf(nodeSuite, policy)) });
      }
      return fleets;
    });
  } finally {
    await database.close();
  }
}

// Changes the passphrase or key file of an authority: everything that is sealed in its database is sealed again, in one transaction. The
// old key of the vault is sealed by the new one, until the units of the epochs that are live now have ended.

export interface Rotated {
  /** The number of master keys of `paper` mode that were sealed again. */
  readonly sealedKeys: number;
}

/** The authority must be stopped: its data folder is locked. */
export async function rotateVault(places: ConfigPlaces, fresh: VaultSecret): Promise<Rotated> {
  const options = readAuthorityConfig(places);
  const store = openStore(options.dataFolder);
  try {
    const rotated = await resealAll(store, options.secret, fresh);
    await store.purge();
    return rotated;
  } finally {
    await store.close();
  }
}

/** The slow work comes first, so that the transaction itself is short. */
async function resealAll(store: AuthorityStore, secret: VaultSecret, fresh: VaultSecret): Promise<Rotated> {
  const stored = await store.transaction((tables) => tables.vault());
  if (stored === undefined)
    throw new StartError('dataFolder', `${store.place} has no keys yet; start the authority with the new secret`);
  const parameters = freshParameters(fresh, nodeRandomBytes);
  const { vault: before, seed } = openStored(store, stored, { secret, randomBytes: nodeRandomBytes });
  const after = openVault(fresh, parameters, nodeRandomBytes);
  try {
    const signingKey = after.seal(SIGNING_KEY, seed);
    return await store.transaction(async (tables) => {
      const paperKeys = await tables.paperKeys();
      const older = (await tables.olderKeys()).flatMap((sealed) => olderVault(before, sealed, nodeRandomBytes) ?? []);
      await tables.replaceVault({ parameters, signingKey });
      for (const one of paperKeys)
        await tables.resealPaperKey({ ...one, sealed: resealed(paperKeyName(one), one.sealed, before, after) });
      await tables.replaceOlderKeys([...older, before].map((vault) => vault.keyFor(after)));
      for (const vault of older) vault.wipe();
      return { sealedKeys: paperKeys.length };
    });
  } finally {
    seed.fill(0);
    before.wipe();
    after.wipe();
  }
}

function resealed(name: string, sealed: Uint8Array, before: Vault, after: Vault): Uint8Array {
  const secret = before.open(name, sealed);
  if (secret === undefined) throw new StartError('dataFolder', `the ${name} is damaged; nothing was changed`);
  const again = after.seal(name, secret);
  secret.fill(0);
  return again;
}
