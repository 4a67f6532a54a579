/** The models that the server shows, each signed by it, with the open epochs of the authorities; the device judges them by its own clock. */

import { isRefused, type Refused, refused, type TaskId } from '@basa/protocol';
import { type Gathered, receiveModel } from '@basa/protocol/one-shot';
import type { TaskPolicy } from '@basa/protocol/policy';
import type { ModelStatementBody, ShownModel } from '@basa/protocol/wire';
import type { DeviceState } from '../device/device-state.ts';
import type { Outside } from '../outside.ts';
import type { ServerClient } from '../services/server-client.ts';

/** A model that came with a place is used instead of a request for this long. */
const HANDED_MS = 5_000;
/** Epochs are asked for again in the last part of their time, so that an upload does not come too late. */
const LAST_PART = 12;

interface ModelSource {
  readonly outside: Pick<Outside, 'suite' | 'now' | 'stopwatch'>;
  readonly server: ServerClient;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly state: Pick<DeviceState, 'certificate'>;
}

export class ShownModels {
  readonly #source: ModelSource;
  #gathered: Gathered | undefined;
  /** The model that came with a place, and the time until which it is used. */
  #handed: { readonly shown: ShownModel; readonly until: number } | undefined;
  /** The version that was fetched last, and the time when its parameters had come. */
  #taken = { version: -1, at: 0 };
  /** The statements of the versions that this process was shown. */
  readonly #statements = new Map<number, ModelStatementBody>();

  constructor(source: ModelSource) {
    this.#source = source;
  }

  /** Returns the statement of a version that an update may be trained on. */
  statementOf(version: number): ModelStatementBody | undefined {
    return this.#statements.get(version);
  }

  /** The parameters of this version have come. */
  took(version: number): void {
    this.#taken = { version, at: this.#source.outside.stopwatch() };
  }

  /** The time until an update of this version may leave: up to the next multiple of `departMs` after its download. */
  waitMs(version: number): number {
    const { outside, policy } = this.#source;
    const { departMs = 0 } = policy.oneShot ?? {};
    if (departMs === 0) return 0;
    const passed = outside.stopwatch() - (this.#taken.version === version ? this.#taken.at : 0);
    return Math.ceil(passed / departMs) * departMs - passed;
  }

  /** The server has shown this model with a place. */
  handed(shown: ShownModel | undefined): void {
    const until = this.#source.outside.now() + HANDED_MS;
    this.#handed = shown === undefined ? undefined : { shown, until };
  }

  /** Asks the server, unless the model just came with a place. */
  async newest(signal: AbortSignal): Promise<Gathered | Refused> {
    const { outside, server, state, task } = this.#source;
    const handed = this.#handed;
    this.#handed = undefined;
    if (handed !== undefined && outside.now() <= handed.until) {
      const gathered = this.#judge(handed.shown);
      if (!isRefused(gathered)) return gathered;
    }
    const { certificate } = state;
    return certificate === undefined
      ? refused('not-enrolled')
      : this.#judge(await server.newestModel(task, certificate, signal));
  }

  /** Returns what was shown last, or what is shown now if an upload that names its epochs could come too late. */
  async fresh(signal: AbortSignal): Promise<Gathered | Refused> {
    const known = this.#gathered;
    return known === undefined || this.#isOld(known) ? await this.newest(signal) : known;
  }

  #judge(shown: ShownModel): Gathered | Refused {
    const { outside, policy, task } = this.#source;
    const gathered = receiveModel({ suite: outside.suite, policy, task, now: outside.now() }, shown);
    if (isRefused(gathered)) return gathered;
    const { statement } = gathered;
    this.#statements.set(statement.version, statement);
    for (const version of this.#statements.keys())
      if (version < statement.version - policy.maxStaleness) this.#statements.delete(version);
    this.#gathered = gathered;
    return gathered;
  }

  /** True if one of its epochs closes soon. */
  #isOld({ epochs }: Gathered): boolean {
    const { outside, policy } = this.#source;
    const soonMs = (policy.oneShot?.epochMs ?? 0) / LAST_PART;
    return epochs.some(({ closes }) => closes - outside.now() < soonMs);
  }
}
