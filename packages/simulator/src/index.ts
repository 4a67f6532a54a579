/** Federations in memory. */
export type { PartyName } from './crash.ts';
export { Crash } from './crash.ts';
export type { BrokenRule, CastOptions } from './explorer/cast.ts';
export type { Exploration, ExploreOptions } from './explorer/explore.ts';
export { explore } from './explorer/explore.ts';
export type { Fate } from './explorer/invariants.ts';
export type { FederationOptions } from './federation.ts';
export { CLOSE_MS, Federation, LEASE_MS, OPEN_MS, transparentSealings } from './federation.ts';
export { FederationAuthority } from './federation-authority.ts';
export type { Step } from './federation-device.ts';
export { FederationDevice } from './federation-device.ts';
export { FederationServer } from './federation-server.ts';
export { granted, reasonOf } from './granted.ts';
export type { AuthorityPeer, Environment, Sealings, ServerPeer, World } from './world.ts';
