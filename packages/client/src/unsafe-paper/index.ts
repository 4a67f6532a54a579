/** The paper's own mode, for tasks whose server runs in it. UNSAFE: see docs/threat-model.md. */
import type { Samples } from '@basa/learning';
import { type Abortable, type BasaClient, INSIDE } from '../client.ts';
import { uniform } from '../outside.ts';
import { type RoundTrainer, type RunOptions, type RunSteps, type RunSummary, run } from '../run.ts';
import type { DeviceContext } from '../session/context.ts';
import type { Update } from '../session/contribute.ts';
import { type Contribution, type Rejection, rejected } from '../session/results.ts';
import { contributeByAlgorithmTwo } from './contribute.ts';

/** The mean wait before the position is asked for again, while another user holds it. */
const TURN_MS = 200;
/** The wait for the next buffer: a user has one position in each. */
const NEXT_BUFFER_MS = 500;

function runByAlgorithmTwo(
  context: DeviceContext,
  trainer: RoundTrainer,
  data: Samples,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const { models, outside } = context;
  /** The version that the device contributed on last. */
  let given: number | undefined;

  const inTurn = async (update: Update, both: AbortSignal): Promise<Contribution | Rejection> => {
    for (;;) {
      const result = await contributeByAlgorithmTwo(context, update, both);
      if (result.kind === 'accepted') {
        given = update.trainedOn;
        context.events.emit('accepted', result);
        return result;
      }
      if (result.reason === 'second-position') return rejected('no-place', 'free', { retryAfterMs: NEXT_BUFFER_MS });
      if (result.reason !== 'lease-taken') {
        context.events.emit('rejected', result);
        return result;
      }
      await outside.sleep(2 * TURN_MS * uniform(outside.randomBytes), both);
    }
  };

  const steps: RunSteps = {
    mayTrain: () => undefined,
    admission: async (both) =>
      given === undefined || (await models.fetch(both)).version > given
        ? { kind: 'place', endsInMs: Number.POSITIVE_INFINITY }
        : rejected('no-place', 'free', { retryAfterMs: NEXT_BUFFER_MS }),
    model: (both) => models.fetch(both),
    given: () => undefined,
    contribute: inTurn,
    resume: async () => undefined,
  };
  return run(context, steps, trainer, data, options, signal);
}

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
