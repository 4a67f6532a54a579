/** Federations in memory. */
export { FederationAuthority } from './federation/authority.ts';
export type { PartyName } from './federation/crash.ts';
export { Crash } from './federation/crash.ts';
export { FederationDevice } from './federation/device.ts';
export type { Step } from './federation/drive.ts';
export { Damaged } from './federation/drive.ts';
export type { FederationOptions } from './federation/federation.ts';
export { CLOSE_MS, Federation, LEASE_MS, OPEN_MS } from './federation/federation.ts';
export { granted, reasonOf } from './federation/granted.ts';
export type { ReleasedSums } from './federation/one-shot-authority.ts';
export { ShotAuthority } from './federation/one-shot-authority.ts';
export type { SentShot } from './federation/one-shot-device.ts';
export { ShotDevice } from './federation/one-shot-device.ts';
export type { OneShotOptions } from './federation/one-shot-federation.ts';
export { OneShotFederation } from './federation/one-shot-federation.ts';
export type { Changed } from './federation/one-shot-requests.ts';
export { inspectRequest, releaseRequest, voteRequest } from './federation/one-shot-requests.ts';
export { ShotServer } from './federation/one-shot-server.ts';
export type { BatchEnd, ShotDisk, StoredBatch, StoredShot } from './federation/one-shot-store.ts';
export type { PaperFederationOptions, PaperPrepared } from './federation/paper-federation.ts';
export { PAPER_LEASE_MS, PaperFederation } from './federation/paper-federation.ts';
export type { PartTrial, PartTrialOptions } from './federation/part-trial.ts';
export { partTrial } from './federation/part-trial.ts';
export { randomBytesFrom } from './federation/random-bytes.ts';
export type { SealingTrial } from './federation/sealing-trial.ts';
export { sealingTrial } from './federation/sealing-trial.ts';
export { FederationServer, SEAT_MS } from './federation/server.ts';
export { overAttributes, transparentPaperSealings, transparentSealings } from './federation/transparent-sealings.ts';
export type {
  AuthorityPeer,
  AuthorityWorld,
  Environment,
  PaperSealings,
  Sealings,
  ServerPeer,
  World,
} from './federation/world.ts';
export type { OneShotProtocolOptions } from './protocols/basa-one-shot.ts';
export { basaOneShot } from './protocols/basa-one-shot.ts';
export { unsafeBasaPaper } from './protocols/basa-paper.ts';
export type { SealedOptions } from './protocols/basa-sealed.ts';
export { basaSealed } from './protocols/basa-sealed.ts';
export type { Delay } from './timed/delay.ts';
export { drawDelay, NO_DELAY } from './timed/delay.ts';
export { EventQueue } from './timed/event-queue.ts';
export type { LightSecAggCosts } from './timed/lightsecagg-scheme.ts';
export { LightSecAggScheme } from './timed/lightsecagg-scheme.ts';
export type { Link } from './timed/link.ts';
export { NO_NETWORK } from './timed/link.ts';
export type { OneShotCosts } from './timed/one-shot-scheme.ts';
export { OneShotScheme } from './timed/one-shot-scheme.ts';
export type { PaperCosts } from './timed/paper-scheme.ts';
export { PaperScheme } from './timed/paper-scheme.ts';
export type { PlainCosts } from './timed/plain-scheme.ts';
export { PlainScheme } from './timed/plain-scheme.ts';
export type { RoundCosts } from './timed/rounds.ts';
export { rounds } from './timed/rounds.ts';
export type { SealedCosts } from './timed/sealed-scheme.ts';
export { SealedScheme } from './timed/sealed-scheme.ts';
export { Station } from './timed/station.ts';
export type { Scheme } from './timed/timeline.ts';
export { Timeline, tripSeconds } from './timed/timeline.ts';
export type { Arrivals, Fate, Fleet, Included, TimedEvent, Trip } from './timed/trip.ts';
export type { TestResult } from './uniformity/statistics.ts';
export { chiSquareTwoSample, chiSquareUniform, welch } from './uniformity/statistics.ts';
export type { Suspicion } from './uniformity/upload-tests.ts';
export { fixedVersusRandom, uniformityOf } from './uniformity/upload-tests.ts';
