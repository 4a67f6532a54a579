/** No secure aggregation: FedAvg and FedBuff as they are; the server reads every update. */
import { addInPlace, FIELD, packedLength } from '@basa/masking';
import {
  type AggregationProtocol,
  type AggregationTools,
  NOBODY_LISTENS,
  type Phase,
  presentIn,
} from './aggregation.ts';
import { refused } from './refusals.ts';

const PHASES: readonly Phase[] = [{ name: 'upload', user: 'sends x', server: 'adds x' }];

export function plainAggregation(tools: Pick<AggregationTools, 'masks'>): AggregationProtocol {
  const { kernel } = tools.masks;
  return {
    name: 'plain',
    timing: 'asynchronous',
    modulus: FIELD,
    phases: PHASES,
    aggregate(gathering, observer = NOBODY_LISTENS) {
      const included = presentIn(PHASES, gathering, 'upload');
      const first = gathering.inputs[included[0] ?? -1];
      if (first === undefined) return refused('too-few', 'nobody is there');
      const sum = new Uint32Array(first.length);
      for (const user of included) {
        const input = gathering.inputs[user] as Uint32Array;
        const bytes = packedLength(input.length, FIELD);
        observer.sent({ phase: 'upload', from: 'user', to: 'server', user, bytes });
        observer.compute('server', 'upload', undefined, () => addInPlace(sum, input, FIELD, kernel));
      }
      return { kind: 'sum', sum, included };
    },
  };
}
