/** The attribute authority as a service of its own. */
export { backupAuthority, restoreAuthority } from './backup.ts';
export type { AuthorityPlaces } from './config.ts';
export { AUTHORITY_PREFIX, authorityConfigSchema, checkAuthorityConfig, readAuthorityConfig } from './config.ts';
export type { Authority, AuthorityOptions } from './create-authority.ts';
export { createAuthority } from './create-authority.ts';
export { examineAuthority } from './examine.ts';
export type { TaskFleet } from './fleets.ts';
export { runAuthority } from './main.ts';
export { migrateAuthority } from './migrate.ts';
export type { Rotated } from './rotate-vault.ts';
export { rotateVault } from './rotate-vault.ts';
export type { VaultSecret } from './vault.ts';
export type { LogReport } from './verify-log.ts';
export { verifyLog } from './verify-log.ts';
export type { Witness } from './witness.ts';
