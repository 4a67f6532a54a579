/** Backs up an authority: its database, but no unit. A restored authority is silent about earlier epochs, and opens a new one. */
import { backupFolder, type ConfigPlaces, type Manifest, restoreFolder } from '@basa/service';
import { AUTHORITY_DATABASE } from '../store/store.ts';
import { readAuthorityConfig } from './config.ts';

export function backupAuthority(places: ConfigPlaces, to: string): Promise<Manifest> {
  return backupFolder({ dataFolder: folderOf(places), to, database: AUTHORITY_DATABASE });
}

export function restoreAuthority(places: ConfigPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'authority', from, dataFolder: folderOf(places) });
}

function folderOf(places: ConfigPlaces): string {
  return readAuthorityConfig(places).dataFolder;
}
