/** Federations in memory. */
export { Crash, type PartyName } from './federation/crash.ts';
export { FederationDevice } from './federation/device.ts';
export { type ReleasedSums, ShotAuthority } from './federation/one-shot-authority.ts';
export { type SentShot, ShotDevice } from './federation/one-shot-device.ts';
export { OneShotFederation, type OneShotOptions } from './federation/one-shot-federation.ts';
export { type Changed, inspectRequest, releaseRequest, voteRequest } from './federation/one-shot-requests.ts';
export type { BatchEnd, ShotDisk, StoredBatch, StoredShot } from './federation/one-shot-store.ts';
export {
  PAPER_LEASE_MS,
  PaperFederation,
  type PaperFederationOptions,
  type PaperPrepared,
} from './federation/paper-federation.ts';
export { type PartTrial, type PartTrialOptions, partTrial } from './federation/part-trial.ts';
export { randomBytesFrom } from './federation/random-bytes.ts';
export { reasonOf } from './federation/reason-of.ts';
export { transparentPaperSealings } from './federation/transparent-sealings.ts';
export type { Environment, PaperSealings } from './federation/world.ts';
export { basaOneShot, type OneShotProtocolOptions } from './protocols/basa-one-shot.ts';
export { unsafeBasaPaper } from './protocols/basa-paper.ts';
export type { Delay } from './timed/delay.ts';
export { type LightSecAggCosts, LightSecAggScheme } from './timed/lightsecagg-scheme.ts';
export { type OneShotCosts, OneShotScheme } from './timed/one-shot-scheme.ts';
export { type PaperCosts, PaperScheme } from './timed/paper-scheme.ts';
export { type PlainCosts, PlainScheme } from './timed/plain-scheme.ts';
export { type RoundCosts, rounds } from './timed/rounds.ts';
export { type Scheme, Timeline, tripSeconds } from './timed/timeline.ts';
export type { Arrivals, Fleet, TimedEvent, Trip } from './timed/trip.ts';
export { chiSquareTwoSample, chiSquareUniform, type TestResult, welch } from './uniformity/statistics.ts';
export { fixedVersusRandom, type Suspicion, uniformityOf } from './uniformity/upload-tests.ts';
