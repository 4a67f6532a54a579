/** The protocols BASA is compared with, behind one interface. */
export {
  type Aggregated,
  type AggregationProtocol,
  type AggregationTools,
  type Gathering,
  type Message,
  NOBODY_LISTENS,
  type Observer,
  type Party,
  type Phase,
  presentIn,
} from './aggregation.ts';
export { type CombinationKernel, plainCombinationKernel } from './field/combination-kernel.ts';
export { type Field, primeField } from './field/field.ts';
export { MaskCode } from './lightsecagg/mask-code.ts';
export {
  type CodeParameters,
  fedmlCode,
  type LightSecAggParameters,
  pieceLength,
  publishedCode,
  SYNCHRONISATION_READINGS,
  type SynchronisationReading,
} from './lightsecagg/parameters.ts';
export { type BufferedChoice, type BufferedProtocol, bufferedLightSecAgg, lightSecAgg } from './lightsecagg/round.ts';
export { LightSecAggServer } from './lightsecagg/server.ts';
export { LightSecAggUser } from './lightsecagg/user.ts';
export { plainAggregation } from './plain.ts';
export type { Refused } from './refusals.ts';
export { defaultThreshold, secAggParameters } from './secagg/parameters.ts';
export { secAgg, secAggPlus } from './secagg/round.ts';
export { SecAggServer } from './secagg/server.ts';
export { SecAggUser } from './secagg/user.ts';
