/** The paper's own mode, for tasks whose server runs in it. UNSAFE: see docs/threat-model.md. */
import type { Abortable, BasaClient } from '../basa-client.ts';
import { INSIDE } from '../inside.ts';
import type { Contribution, Rejection } from '../session/contribution.ts';
import { contributeByAlgorithmTwo } from './contribute.ts';

/** Algorithm 2 of the paper, for tasks in paper mode only. UNSAFE: a server that lies learns updates. */
export function unsafePaperContribute(
  client: BasaClient,
  delta: Float32Array,
  { trainedOn, signal }: { readonly trainedOn: number } & Abortable,
): Promise<Contribution | Rejection> {
  return client[INSIDE](signal, (context, both) => contributeByAlgorithmTwo(context, { delta, trainedOn }, both));
}
