/**
 * The models that the server shows, each signed by it, with the open epochs of the authorities; the device judges them by its own clock.
 * The server signs the hash of a model, and its bytes are used only if they match the hash.
 */
import { equalBytes, toHex } from '@basa/masking';
import { isRefused, type Refused, refused, type TaskId } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol/http';
import { DeviceRole } from '@basa/protocol/one-shot';
import type { TaskPolicy } from '@basa/protocol/policy';
import type { ModelStatement, ShownModel } from '@basa/protocol/wire';
import type { DeviceState } from '../device/state.ts';
import { AnswerError, RefusedError } from '../errors.ts';
import type { Outside } from '../outside.ts';
import { asMember, type ServerClient } from '../services/server-client.ts';
import type { Emitter } from './results.ts';

/** A model that came with a place is used instead of a request for this long. */
const HANDED_MS = 5_000;
/** Epochs are asked for again in the last part of their time, so that an upload does not come too late. */
const LAST_PART = 12;

export interface FetchedModel {
  readonly version: number;
  /** SHA-256 of the parameters in hex, as the server signed it. */
  readonly hash: string;
  readonly parameters: Float32Array;
}

const FLOAT_BYTES = 4;

interface ModelSource {
  readonly outside: Pick<Outside, 'suite' | 'digest' | 'now' | 'stopwatch'>;
  readonly server: ServerClient;
  readonly policy: TaskPolicy;
  readonly task: TaskId;
  readonly state: Pick<DeviceState, 'certificate'>;
  readonly events: Emitter;
}

export class Models {
  readonly #source: ModelSource;
  #fetched: FetchedModel | undefined;
  #gathered: DeviceRole.Gathered | undefined;
  /** The model that came with a place, and the time until which it is used. */
  #handed: { readonly shown: ShownModel; readonly until: number } | undefined;
  /** The version that was fetched last, and the time when its parameters had come. */
  #taken = { version: -1, at: 0 };
  /** The statements of the versions that this process was shown. */
  readonly #statements = new Map<number, Omit<ModelStatement, 'signature'>>();

  constructor(source: ModelSource) {
    this.#source = source;
  }

  /** The model that was fetched last. */
  get fetched(): FetchedModel | undefined {
    return this.#fetched;
  }

  /** Returns the statement of a version that an update may be trained on. */
  statementOf(version: number): Omit<ModelStatement, 'signature'> | undefined {
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
  async newest(signal: AbortSignal): Promise<DeviceRole.Gathered | Refused> {
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
  async fresh(signal: AbortSignal): Promise<DeviceRole.Gathered | Refused> {
    const known = this.#gathered;
    return known === undefined || this.#isOld(known) ? await this.newest(signal) : known;
  }

  #judge(shown: ShownModel): DeviceRole.Gathered | Refused {
    const { outside, policy, task } = this.#source;
    const gathered = DeviceRole.receiveModel({ suite: outside.suite, policy, task, now: outside.now() }, shown);
    if (isRefused(gathered)) return gathered;
    const { statement } = gathered;
    this.#statements.set(statement.version, statement);
    for (const version of this.#statements.keys())
      if (version < statement.version - policy.maxStaleness) this.#statements.delete(version);
    this.#gathered = gathered;
    return gathered;
  }

  /** True if one of its epochs closes soon. */
  #isOld({ epochs }: DeviceRole.Gathered): boolean {
    const { outside, policy } = this.#source;
    const soonMs = (policy.oneShot?.epochMs ?? 0) / LAST_PART;
    return epochs.some(({ closes }) => closes - outside.now() < soonMs);
  }

  /** The newest model, with parameters that are fetched only if they are not those of before. */
  async fetch(signal: AbortSignal): Promise<FetchedModel> {
    const { events, outside } = this.#source;
    const gathered = await this.newest(signal);
    if (isRefused(gathered)) throw new RefusedError(gathered.reason, gathered.detail);
    const { modelHash, version } = gathered.statement;
    const hash = toHex(modelHash);
    if (this.#fetched?.version !== version || this.#fetched.hash !== hash) {
      const bytes = await this.#download(version, signal);
      if (!equalBytes(await outside.digest(bytes), modelHash))
        throw new RefusedError('model-invalid', `version ${version}`);
      this.#fetched = { version, hash, parameters: new Float32Array(bytes.buffer) };
      events.emit('model', { version, bytes: bytes.length });
    }
    this.took(version);
    return this.#fetched;
  }

  /** Continues after a lost connection: versions never change, and the hash is checked over the whole. */
  async #download(version: number, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { server, policy, task, state } = this.#source;
    const { certificate } = state;
    // Its parameters are these bytes: little-endian, as typed arrays are on every machine with a JavaScript engine of today.
    const bytes = new Uint8Array(FLOAT_BYTES * policy.dimension);
    if (certificate === undefined) throw new RefusedError('not-enrolled');
    const target = SERVER_PATH.model(task, version);
    const { signed, headers: member } = asMember(certificate);
    let [at, furthest] = [0, 0];
    await server.link.retrying(signal, async (progressed) => {
      if (at === bytes.length) return;
      const [start, headers] = [at, at === 0 ? member : { ...member, range: `bytes=${at}-` }];
      const call = { method: 'GET' as const, target, signed, headers, maxBytes: bytes.length, signal };
      let isFirst = true;
      await server.link.attempt(call, (chunk, status) => {
        if (isFirst) at = status === 206 ? start : 0;
        isFirst = false;
        if (at + chunk.length > bytes.length) throw new AnswerError('the server', 'a model of another dimension');
        bytes.set(chunk, at);
        at += chunk.length;
        if (at <= furthest) return; // repeated bytes are no progress
        furthest = at;
        progressed();
      });
    });
    if (at !== bytes.length) throw new AnswerError('the server', `a model of ${at} bytes instead of ${bytes.length}`);
    return bytes;
  }
}
