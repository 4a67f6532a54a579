/** SecAgg and SecAgg+ behind the interface of all protocols. */
import { FIELD, type Modulus } from '@basa/masking';
import { type AggregationProtocol, type AggregationTools, NOBODY_LISTENS } from '../aggregation.ts';
import type { Neighbourhood, Risk } from './neighbourhood.ts';
import { type SecAggParameters, secAggParameters, secAggPlusParameters } from './parameters.ts';
import { SecAggParties } from './parties.ts';
import { SECAGG_PHASES } from './phases.ts';

export interface SecAggChoice {
  readonly modulus?: Modulus;
  /** Instead of floor(2n/3) + 1. */
  readonly threshold?: number;
}

export function secAgg(
  tools: AggregationTools,
  { modulus = FIELD, threshold }: SecAggChoice = {},
): AggregationProtocol {
  return protocol('SecAgg', tools, modulus, (users) => {
    const parameters = secAggParameters(users, { session: tools.randomBytes(32), modulus });
    return threshold === undefined ? parameters : { ...parameters, threshold };
  });
}

/** Uses the neighbourhood computed for a risk, or a given one. */
export function secAggPlus(
  tools: AggregationTools,
  { modulus = FIELD, ...choice }: (Risk | Neighbourhood) & { readonly modulus?: Modulus },
): AggregationProtocol {
  return protocol('SecAgg+', tools, modulus, (users) => {
    const base = { session: tools.randomBytes(32), modulus };
    if (!('degree' in choice)) return secAggPlusParameters(users, choice, base);
    return { ...base, graph: { kind: 'harary', degree: choice.degree }, threshold: choice.threshold };
  });
}

function protocol(
  name: string,
  tools: AggregationTools,
  modulus: Modulus,
  parametersFor: (users: number) => SecAggParameters,
): AggregationProtocol {
  return {
    name,
    timing: 'synchronous',
    modulus,
    phases: SECAGG_PHASES,
    aggregate: (gathering, observer = NOBODY_LISTENS) =>
      new SecAggParties(tools, parametersFor(gathering.inputs.length), gathering, observer).run(),
  };
}
