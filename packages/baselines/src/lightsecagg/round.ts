/** LightSecAgg behind the interface of all protocols: in rounds, and with a buffer. */
import { FIELD, integerWeight, signedCapacity } from '@basa/masking';
import { type AggregationProtocol, type AggregationTools, NOBODY_LISTENS } from '../aggregation.ts';
import { refused } from '../refusals.ts';
import type { CodeParameters } from './parameters.ts';
import { LightSecAggParties } from './parties.ts';
import { LIGHTSECAGG_PHASES } from './phases.ts';
import type { SynchronisationReading } from './synchronisation.ts';

/** In rounds: the sum of all survivors, of whom there must be at least U. */
export function lightSecAgg(
  tools: AggregationTools,
  codeFor: (users: number) => CodeParameters,
  name = 'LightSecAgg',
): AggregationProtocol {
  return {
    name,
    timing: 'synchronous',
    modulus: FIELD,
    phases: LIGHTSECAGG_PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const code = codeFor(gathering.inputs.length);
      const choice = { code, fewest: code.survivors, most: code.users, staleness: () => 0 };
      return new LightSecAggParties(tools, gathering, observer, choice).run();
    },
  };
}

export interface BufferedChoice {
  readonly codeFor: (users: number) => CodeParameters;
  /** K. */
  readonly bufferSize: number;
  /** c_g: the integer that a real weight of 1 becomes; 1 means that staleness does not count. */
  readonly weightScale: number;
  /** S(tau) in (0, 1]. */
  readonly weightOf: (staleness: number) => number;
  /** The largest |X| of an input, for the proof that weighted sums do not wrap. */
  readonly inputBound: number;
  readonly reading: SynchronisationReading;
  /** The number of versions that passed while a user trained. */
  readonly stalenessOf?: (user: number) => number;
}

export interface BufferedProtocol extends AggregationProtocol {
  /** For simulations of time: the work of the other users while the server waits for U answers. */
  readonly reading: SynchronisationReading;
}

/** With a buffer: sum_i S_i x_i of the first K, with masks of different versions. */
export function bufferedLightSecAgg(tools: AggregationTools, choice: BufferedChoice): BufferedProtocol {
  const { bufferSize, weightScale, weightOf, inputBound, stalenessOf = () => 0, reading } = choice;
  return {
    name: 'LightSecAgg, buffered',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: LIGHTSECAGG_PHASES,
    reading,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      // K c_g ceil(c_l Dmax) <= (q - 1) / 2
      if (bufferSize * weightScale * inputBound > signedCapacity(FIELD)) {
        return refused('would-wrap', `${bufferSize} * ${weightScale} * ${inputBound}`);
      }
      const code = choice.codeFor(gathering.inputs.length);
      return new LightSecAggParties(tools, gathering, observer, {
        code,
        fewest: bufferSize,
        most: bufferSize,
        staleness: stalenessOf,
        weightOf: (staleness) => integerWeight(weightOf(staleness), weightScale),
      }).run();
    },
  };
}
