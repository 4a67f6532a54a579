/** A device in a task: fetches models, contributes updates, and asks what became of them. */
import type { Samples } from '@basa/learning';
import { fromHex } from '@basa/masking';
import type { Ctx } from '@basa/protocol';
import type { Ledger } from '@basa/protocol/one-shot';
import { type FieldDefinitions, Privacy, type ReportOf, type Statistics, type TaskPolicy } from '@basa/protocol/policy';
import { SettingsError } from './errors.ts';
import { type RoundTrainer, type RunOptions, type RunSummary, run } from './run.ts';
import type { UploadFate } from './services/server-client.ts';
import { askForPlace, type DeviceContext, type Place } from './session/context.ts';
import {
  checkTrains,
  contribute,
  resume,
  spentBy,
  trainingRejection,
  type Update,
  versionRejection,
} from './session/contribute.ts';
import type { FetchedModel } from './session/models.ts';
import { sendReport } from './session/report.ts';
import type { ClientEvents, Contribution, Rejection } from './session/results.ts';

/** Gives other entries of this package access to a client's internals, in turn with its other calls. Not for applications. */
export const INSIDE: unique symbol = Symbol('inside of a client');

export interface Abortable {
  readonly signal?: AbortSignal;
}

export type ContributeOptions = Omit<Update, 'delta'> & Abortable;

export interface ReportOptions<Definitions extends FieldDefinitions> extends Abortable {
  /** From `defineFields`: they give the report its type, and must be those of the task. */
  readonly fields?: Definitions;
}

/** Its calls wait for each other, because a device has one session at a time. */
export class BasaClient {
  readonly #context: DeviceContext;
  readonly #closing = new AbortController();
  #busy: Promise<unknown> = Promise.resolve();

  /** Use `connect`. */
  constructor(context: DeviceContext) {
    this.#context = context;
  }

  /** The device's public key; its user id is the hash of it. */
  get deviceKey(): Uint8Array {
    return this.#context.state.signer.publicKey;
  }

  /** The pinned policy of the task. */
  get policy(): TaskPolicy {
    return this.#context.policy;
  }

  /** The noise of the task, who adds it and what it hides; in a private task also the part of its budget that this device has spent. */
  get privacy(): Privacy.NoiseWords & { readonly spent: Ledger.PrivacySpent | undefined } {
    return { ...Privacy.noiseWords(this.policy), spent: spentBy(this.#context) };
  }

  /** True if a session was interrupted and waits for `resume`. */
  get isInterrupted(): boolean {
    return this.#context.state.session !== undefined;
  }

  /** Returns a function that removes the listener. */
  on<Name extends keyof ClientEvents>(name: Name, listener: (event: ClientEvents[Name]) => void): () => void {
    return this.#context.events.on(name, listener);
  }

  /**
   * Asks for a place before the model is fetched. A rejection with reason `no-place` says when to ask again. `run` does this automatically.
   * Without a place, `contribute` is served only if there is room.
   */
  admission({ signal }: Abortable = {}): Promise<Place | Rejection> {
    return this.#exclusively(signal, (both) => askForPlace(this.#context, both));
  }

  /** The newest model; its parameters are the client's own, not to be changed. */
  model({ signal }: Abortable = {}): Promise<FetchedModel> {
    return this.#exclusively(signal, (both) => this.#context.models.fetch(both));
  }

  /**
   * Offers an update. Resolves when the update is accepted or rejected. Throws if there is no decision, because the call was aborted or a
   * service did not answer. In that case call `resume`, or make the same call again: both continue with exactly the bytes that were stored.
   */
  contribute(delta: Float32Array, { signal, ...update }: ContributeOptions): Promise<Contribution | Rejection> {
    return this.#exclusively(signal, (both) => contribute(this.#context, { ...update, delta }, both));
  }

  /**
   * The same for parameters that were trained outside of the SDK, from those that `model()` returned last: the update is the parameters before less those after.
   */
  contributeWeights(
    after: Float32Array,
    options: Omit<ContributeOptions, 'trainedOn'> = {},
  ): Promise<Contribution | Rejection> {
    const before = this.#context.models.fetched;
    if (before === undefined) throw new SettingsError('call model() first, and train from its parameters');
    if (after.length !== before.parameters.length)
      throw new RangeError(`the model has ${before.parameters.length} parameters, got ${after.length}`);
    const delta = before.parameters.map((value, n) => value - (after[n] as number));
    return this.contribute(delta, { ...options, trainedOn: before.version }).finally(() => delta.fill(0));
  }

  /**
   * Reports a value of each field of a statistics task, once in each window of the device's clock. A value that is out of range is told by the
   * event `outside`, and counts as the nearest bound or in the last bucket. Otherwise this is like `contribute`.
   */
  report<const Definitions extends FieldDefinitions = FieldDefinitions>(
    values: ReportOf<Definitions>,
    { fields, signal }: ReportOptions<Definitions> = {},
  ): Promise<Contribution | Rejection> {
    return this.#exclusively(signal, (both) => sendReport(this.#context, values as Statistics.Report, fields, both));
  }

  /** Continues a session that was interrupted by a crash, an abort or a lost network. Undefined if there is no such session. */
  resume({ signal }: Abortable = {}): Promise<Contribution | Rejection | undefined> {
    return this.#exclusively(signal, (both) => resume(this.#context, both));
  }

  /** Gives up an interrupted session: its update is lost, and the device trains on a newer version. */
  discard(): Promise<void> {
    return this.#exclusively(undefined, async () => {
      const { state } = this.#context;
      if (state.session !== undefined) await state.dropSession();
      await this.#leavePlace(this.#closing.signal);
    });
  }

  /** The end of a contribution, according to the server. Nothing follows from it: no update is given again. */
  fate({ ctx }: Pick<Contribution, 'ctx'>, { signal }: Abortable = {}): Promise<UploadFate> {
    const { server, task } = this.#context;
    return this.#exclusively(signal, (both) => server.uploadFate(task, fromHex(ctx) as Ctx, both));
  }

  /** Fetches, trains and contributes until the rounds are done or the task ends; an abort rejects. */
  run(trainer: RoundTrainer, data: Samples, { signal, ...options }: RunOptions = {}): Promise<RunSummary> {
    const steps = {
      mayTrain: () => trainingRejection(this.#context),
      admission: (both: AbortSignal) => askForPlace(this.#context, both),
      model: (both: AbortSignal) => this.#context.models.fetch(both),
      given: (version: number) => versionRejection(this.#context, version),
      contribute: (update: Update, both: AbortSignal) => contribute(this.#context, update, both),
      resume: (both: AbortSignal) => resume(this.#context, both),
    };
    return this.#exclusively(signal, async (both) => {
      checkTrains(this.#context);
      return run(this.#context, steps, trainer, data, options, both);
    });
  }

  /** Ends running calls, wipes secrets and releases the device's lock. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort(new Error('the client is closed; connect again'));
    await this.#busy;
    const { outside, state } = this.#context;
    try {
      await state.close();
    } finally {
      await outside.transport.close();
    }
  }

  /** For other entries of this package. */
  [INSIDE]<T>(
    signal: AbortSignal | undefined,
    work: (context: DeviceContext, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return this.#exclusively(signal, (both) => work(this.#context, both));
  }

  /** A courtesy: a place that is not given back lapses. */
  async #leavePlace(signal: AbortSignal): Promise<void> {
    const { server, task } = this.#context;
    await server.discardPlace(task, signal).catch(() => undefined);
  }

  /** Runs one call after the other, whether the last one succeeded or not. */
  #exclusively<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const both = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const mine = this.#busy.then(async () => {
      both.throwIfAborted();
      return work(both);
    });
    this.#busy = mine.catch(() => undefined);
    return mine;
  }
}
