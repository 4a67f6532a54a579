/** The attribute authority as an independent service. */

export type { TaskFleet } from './log/fleets.ts';
export type { LogReport } from './log/verify-log.ts';
export { verifyLog } from './log/verify-log.ts';
export { runAuthority } from './main.ts';
export { backupAuthority, restoreAuthority } from './process/backup.ts';
export {
  AUTHORITY_PREFIX,
  authorityConfigSchema,
  checkAuthorityConfig,
  readAuthorityConfig,
} from './process/config.ts';
export type { Authority, AuthorityOptions } from './process/create-authority.ts';
export { createAuthority } from './process/create-authority.ts';
export { examineAuthority } from './process/examine.ts';
export { migrateAuthority } from './process/migrate.ts';
export type { Rotated } from './process/rotate-vault.ts';
export { rotateVault } from './process/rotate-vault.ts';
export type { SealingKey } from './process/sealing-key.ts';
export { sealingKeyOf } from './process/sealing-key.ts';
export type { VaultSecret } from './store/vault.ts';
export type { Witness } from './store/witness.ts';
