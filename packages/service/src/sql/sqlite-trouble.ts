/** Trouble with the database of a data folder, in words that say what to do. */
import { inUseBy } from '../process/holder.ts';
import { StartError } from '../process/start-error.ts';
import { isStorageFull } from '../process/storage-full.ts';

const SQLITE = { busy: 5, readOnly: 8, corrupt: 11, cannotOpen: 14, notADatabase: 26 };

/** Describes a fault that an operator can fix, in a sentence. */
export function sentenceOf(error: unknown, folder: string): unknown {
  const { code, errcode = 0, message } = error as { code?: string; errcode?: number; message?: string };
  if (isStorageFull(error)) {
    return new StartError('storageFull', `no space is left for ${folder}; free some space and start again`);
  }
  if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'].includes(code)) {
    return new StartError(
      'dataFolder',
      `${folder} cannot be used as a data folder (${code}); check the path and its permissions`,
    );
  }
  if (code !== 'ERR_SQLITE_ERROR') return error;
  switch (errcode & 0xff) {
    case SQLITE.busy:
      return new StartError('inUse', inUseBy(folder));
    case SQLITE.readOnly:
    case SQLITE.cannotOpen:
      return new StartError('dataFolder', `${folder} cannot be written; check its permissions`);
    case SQLITE.corrupt:
    case SQLITE.notADatabase:
      return damaged(folder, message ?? 'not a database');
    default:
      return error;
  }
}

export function damaged(folder: string, what: string): StartError {
  return new StartError(
    'dataFolder',
    `the database in ${folder} is damaged (${what.replaceAll('\n', ', ')}); nothing was changed; restore the newest backup of the folder`,
  );
}
