/** The life of a device in paper mode: fetch the model, train, and contribute when the position is free. */
import type { Samples } from '@basa/learning';
import { uniform } from '../outside.ts';
import { type RoundTrainer, type RunOptions, type RunSteps, type RunSummary, run } from '../run/run.ts';
import type { Contribution, Rejection } from '../session/contribution.ts';
import type { DeviceContext } from '../session/device-context.ts';
import { type FetchedModel, fetchModel } from '../session/model-fetch.ts';
import type { Update } from '../session/quantised.ts';
import { rejected } from '../session/rejections.ts';
import { contributeByAlgorithmTwo } from './contribute.ts';

/** The mean wait before the position is asked for again, while another user holds it. */
const TURN_MS = 200;
/** The wait for the next buffer: a user has one position in each. */
const NEXT_BUFFER_MS = 500;

export function runByAlgorithmTwo(
  context: DeviceContext,
  trainer: RoundTrainer,
  data: Samples,
  options: RunOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const { outside } = context;
  let model: FetchedModel | undefined;
  /** The version that the device contributed on last. */
  let given: number | undefined;

  const newest = async (both: AbortSignal): Promise<FetchedModel> => {
    model = await fetchModel(context, model, both);
    return model;
  };

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
      given === undefined || (await newest(both)).version > given
        ? { kind: 'place', endsInMs: Number.POSITIVE_INFINITY }
        : rejected('no-place', 'free', { retryAfterMs: NEXT_BUFFER_MS }),
    model: newest,
    given: () => undefined,
    contribute: inTurn,
    resume: async () => undefined,
  };
  return run(context, steps, trainer, data, options, signal);
}
