/** The paper's own mode, for tasks whose server runs in it. UNSAFE: see docs/threat-model.md. */
import type { Samples } from '@basa/learning';
import type { Abortable, BasaClient } from '../basa-client.ts';
import { INSIDE } from '../inside.ts';
import type { RoundTrainer, RunOptions, RunSummary } from '../run/run.ts';
import type { Contribution, Rejection } from '../session/contribution.ts';
import { contributeByAlgorithmTwo } from './contribute.ts';
import { runByAlgorithmTwo } from './run.ts';

/** Algorithm 2 of the paper, for tasks in paper mode only. UNSAFE: a server that lies learns updates. */
export function unsafePaperContribute(
  client: BasaClient,
  delta: Float32Array,
  { trainedOn, signal }: { readonly trainedOn: number } & Abortable,
): Promise<Contribution | Rejection> {
  return client[INSIDE](signal, (context, both) => contributeByAlgorithmTwo(context, { delta, trainedOn }, both));
}

/** Fetches, trains and contributes by Algorithm 2 until the rounds are done or the task ends. UNSAFE like the contribution. */
export function unsafePaperRun(
  client: BasaClient,
  trainer: RoundTrainer,
  data: Samples,
  { signal, ...options }: RunOptions = {},
): Promise<RunSummary> {
  return client[INSIDE](signal, (context, both) => runByAlgorithmTwo(context, trainer, data, options, both));
}
