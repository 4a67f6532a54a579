/**
 * Backs up an authority: its log and its sealed keys, but not its witness and not the epoch secrets of the
 * one-shot mode. A restored authority has lost its live epochs. It notices this at the next start, and declares them dead.
 */
import { backupFolder, type ConfigPlaces, type Manifest, restoreFolder } from '@basa/service';
import { IN_NO_BACKUP } from '../store/schema.ts';
import { AUTHORITY_DATABASE } from '../store/store.ts';
import { readAuthorityConfig } from './config.ts';

export function backupAuthority(places: ConfigPlaces, to: string): Promise<Manifest> {
  return backupFolder({ dataFolder: folderOf(places), to, database: AUTHORITY_DATABASE, withoutRows: IN_NO_BACKUP });
}

export function restoreAuthority(places: ConfigPlaces, from: string): Promise<Manifest> {
  return restoreFolder({ application: 'authority', from, dataFolder: folderOf(places) });
}

function folderOf(places: ConfigPlaces): string {
  return readAuthorityConfig(places).dataFolder;
}
