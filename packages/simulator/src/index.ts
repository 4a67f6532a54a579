/** Federations in memory. */
export type { Attack, AttackRefusal, AttackResult, AttackSetting } from './attacks/attack.ts';
export { ATTACKS } from './attacks/registry.ts';
export type { PartyName } from './crash.ts';
export { Crash } from './crash.ts';
export type { FederationOptions } from './federation.ts';
export { CLOSE_MS, Federation, LEASE_MS, OPEN_MS, transparentSealings } from './federation.ts';
export { FederationAuthority } from './federation-authority.ts';
export type { Step } from './federation-device.ts';
export { FederationDevice } from './federation-device.ts';
export { FederationServer } from './federation-server.ts';
export { granted, reasonOf } from './granted.ts';
export type { PaperFederationOptions, PaperPrepared } from './paper-federation.ts';
export { PAPER_LEASE_MS, PaperFederation } from './paper-federation.ts';
export type { AuthorityPeer, Environment, Sealings, ServerPeer, World } from './world.ts';
