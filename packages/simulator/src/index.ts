/** Federations in memory. */
export type { PartyName } from './crash.ts';
export { Crash } from './crash.ts';
export type { FederationOptions } from './federation.ts';
export { CLOSE_MS, Federation, LEASE_MS, OPEN_MS, transparentSealings } from './federation.ts';
export { FederationAuthority } from './federation-authority.ts';
export type { Step } from './federation-device.ts';
export { FederationDevice } from './federation-device.ts';
export { FederationServer } from './federation-server.ts';
export { granted, reasonOf } from './granted.ts';
export type { AttackReport } from './oracle/attacks.ts';
export { playAttack, SEALED_ATTACKS } from './oracle/attacks.ts';
export type { Tally } from './oracle/exhaustive.ts';
export { runEverySituation } from './oracle/exhaustive.ts';
export type { ScheduleTally } from './oracle/many.ts';
export { addTallies, NO_SCHEDULES, runSchedules } from './oracle/many.ts';
export { learnedInPaper, PAPER_ATTACKS, paperLaw } from './oracle/paper.ts';
export type { AuthorityPeer, Environment, Sealings, ServerPeer, World } from './world.ts';
