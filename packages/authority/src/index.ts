/** The attribute authority as an independent service. */

export { runAuthority } from './main.ts';
export {
  AUTHORITY_PREFIX,
  authorityConfigSchema,
  checkAuthorityConfig,
  readAuthorityConfig,
} from './process/config.ts';
export { type Authority, type AuthorityOptions, createAuthority } from './process/create-authority.ts';
export {
  backupAuthority,
  examineAuthority,
  type Rotated,
  restoreAuthority,
  rotateVault,
  type TaskFleet,
} from './process/offline.ts';
export { AUDIT_FILE } from './steps/audit.ts';
export type { VaultSecret } from './store/vault.ts';
