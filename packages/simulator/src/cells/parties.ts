/** The real parties of a protocol, for sums of trained updates. */
import {
  type AggregationProtocol,
  bufferedLightSecAgg,
  lightSecAgg,
  publishedCode,
  SYNCHRONISATION_READINGS,
  secAgg,
  secAggPlus,
} from '@basa/baselines';
import { THREE_OF_FOUR } from '../costs/councils.ts';
import { nodeTools } from '../costs/needs.ts';
import { basaOneShot } from '../protocols/basa-one-shot.ts';
import { unsafeBasaPaper } from '../protocols/basa-paper.ts';
import { nodeEnvironment } from '../simulation/environment.ts';
import type { ProtocolName } from './cell.ts';

/** Undefined for plain sums: there are no parties to check. Seeds of BASA are sealed transparently: their time is charged. */
export function partiesOf(protocol: ProtocolName, users: number): AggregationProtocol | undefined {
  const tools = nodeTools();
  switch (protocol) {
    case 'no SA':
      return undefined;
    case 'BASA paper':
      return unsafeBasaPaper(nodeEnvironment);
    case 'BASA one-shot':
      return basaOneShot(nodeEnvironment);
    case 'BASA one-shot (3 of 4)':
      return basaOneShot(nodeEnvironment, THREE_OF_FOUR);
    case 'SecAgg':
      return secAgg(tools);
    case 'SecAgg+':
      return secAggPlus(tools, { corrupt: 0.05, dropped: 0.05 });
    case 'LSA sync':
      return lightSecAgg(tools, publishedCode);
    default:
      // Updates carry their weights already, as in every asynchronous protocol here: the integer weight is 1.
      return bufferedLightSecAgg(tools, {
        codeFor: publishedCode,
        bufferSize: users,
        weightScale: 1,
        weightOf: () => 1,
        inputBound: 2 ** 20,
        reading: SYNCHRONISATION_READINGS.sequential,
      });
  }
}
