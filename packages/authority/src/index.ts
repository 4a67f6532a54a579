/** The attribute authority as an independent service. */

export { runAuthority } from './main.ts';
export { backupAuthority, restoreAuthority } from './process/backup.ts';
export {
  AUTHORITY_PREFIX,
  authorityConfigSchema,
  checkAuthorityConfig,
  readAuthorityConfig,
} from './process/config.ts';
export { type Authority, type AuthorityOptions, createAuthority } from './process/create-authority.ts';
export { examineAuthority, type TaskFleet } from './process/examine.ts';
export { type Rotated, rotateVault } from './process/rotate-vault.ts';
export { AUDIT_FILE } from './steps/audit.ts';
export type { VaultSecret } from './store/vault.ts';
