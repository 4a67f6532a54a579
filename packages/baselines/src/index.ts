/** The protocols BASA is compared with, behind one interface. */
export type {
  Aggregated,
  AggregationProtocol,
  AggregationTools,
  Gathering,
  Message,
  Observer,
  Party,
  Phase,
} from './aggregation.ts';
export { NOBODY_LISTENS, presentIn } from './aggregation.ts';
export type { CombinationKernel } from './field/combination-kernel.ts';
export { plainCombinationKernel } from './field/combination-kernel.ts';
export type { Field } from './field/field.ts';
export { BINARY_FIELD, primeField } from './field/field.ts';
export { MaskCode } from './lightsecagg/mask-code.ts';
export type { CodeParameters, LightSecAggParameters } from './lightsecagg/parameters.ts';
export { fedmlCode, pieceLength, publishedCode } from './lightsecagg/parameters.ts';
export type { BufferedChoice, BufferedProtocol } from './lightsecagg/round.ts';
export { bufferedLightSecAgg, lightSecAgg } from './lightsecagg/round.ts';
export { LightSecAggServer } from './lightsecagg/server.ts';
export type { SynchronisationReading } from './lightsecagg/synchronisation.ts';
export { SYNCHRONISATION_READINGS } from './lightsecagg/synchronisation.ts';
export { LightSecAggUser } from './lightsecagg/user.ts';
export { plainAggregation } from './plain.ts';
export type { Refused } from './refusals.ts';
export { REFUSALS } from './refusals.ts';
export { chooseNeighbourhood } from './secagg/neighbourhood.ts';
export { defaultThreshold, secAggParameters, secAggPlusParameters } from './secagg/parameters.ts';
export { secAgg, secAggPlus } from './secagg/round.ts';
export { SecAggServer } from './secagg/server.ts';
export { SecAggUser } from './secagg/user.ts';
