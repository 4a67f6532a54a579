/** Recognises errors of the system or of SQLite that mean that the disk is full. */

const SYSTEM_CODES: readonly unknown[] = ['ENOSPC', 'EDQUOT'];
const SQLITE_FULL = 13;

export function isStorageFull(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  // The low byte of SQLite's extended code is the primary one.
  return SYSTEM_CODES.includes(code) || (typeof errcode === 'number' && (errcode & 0xff) === SQLITE_FULL);
}
