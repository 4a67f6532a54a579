/** The attribute authority as a service of its own. */
export type { Authority, AuthorityOptions } from './create-authority.ts';
export { createAuthority } from './create-authority.ts';
export type { AuthoritySources } from './run-authority.ts';
export { runAuthority } from './run-authority.ts';
export type { VaultSecret } from './vault.ts';
export type { LogReport } from './verify-log.ts';
export { verifyLog } from './verify-log.ts';
export type { Witness } from './witness.ts';
