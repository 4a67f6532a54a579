/** Backups of an authority that runs on its own data folder: its log and its sealed keys, and never its witness. */
import { backupFolder, type Manifest, restoreFolder, StartError } from '@basa/service';
import { EMBEDDED_DATABASE } from '../store/store.ts';
import { type AuthorityPlaces, readAuthorityConfig } from './config.ts';

export function backupAuthority(places: AuthorityPlaces, to: string): Promise<Manifest> {
  return backupFolder({ dataFolder: folderOf(places), to, database: EMBEDDED_DATABASE });
}

export function restoreAuthority(places: AuthorityPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'authority', from, dataFolder: folderOf(places) });
}

function folderOf(places: AuthorityPlaces): string {
  const { dataFolder, databaseUrl } = readAuthorityConfig(places);
  if (databaseUrl === undefined && dataFolder !== undefined) return dataFolder;
  throw new StartError(
    'configuration',
    'the authority runs on a database: back it up with pg_dump, keep the key file or passphrase apart from it, and never restore a witness',
  );
}
