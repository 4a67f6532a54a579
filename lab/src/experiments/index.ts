/** Every table and figure of the paper, and ours. */
export { CAREFUL, HASTY, NoisyMachineError } from '@basa/simulator/virtual-time';
export type { Changes } from './cells/changes.ts';
export { claimLines } from './report/claim-lines.ts';
export type { Outcome } from './report/outcome.ts';
export { type Claim, readClaims } from './report/summary.ts';
export type { Profile, Study } from './run/context.ts';
export { measureFor, runStudies } from './run/run-study.ts';
export { STUDIES } from './studies/all.ts';
