/** An operator's requests to the server, with a token: tasks, batches, versions. */
import type { ModelJson, ServerStepOptions } from '@basa/learning';
import { type Live, ROLES_PATH, SERVER_PATH } from '@basa/protocol/http';
import type { Admission } from '@basa/protocol/one-shot';
import type { WindowResult } from '@basa/protocol/policy';
import { refusePlainHttp } from '../services/attempts.ts';
import { ask, LONG_BYTES, type OperatorOptions } from './ask.ts';

export interface TaskSpecification {
  /** In hexadecimal, as the authorities know it. */
  readonly policy: string;
  /** `paper` is the paper's protocol, which hides less; both services must allow it. */
  readonly mode?: 'one-shot' | 'paper';
  /** A server evaluates only networks that it can build. */
  readonly model?: ModelJson;
  /** The first parameters: drawn with a seed, given in hexadecimal, or by their hash if the server has them. */
  readonly initial?: { readonly seed?: number; readonly parameters?: string; readonly sha256?: string };
  readonly serverStep?: ServerStepOptions;
  /** The divisor of a sum of updates. */
  readonly divideBy?: 'count' | 'weights';
  /** A target score that pages show; it does not end the task. */
  readonly target?: number;
  /** Ends the task at a score of a version, at a version, or after a time. */
  readonly stop?: Live.Scores & { readonly version?: number; readonly afterMs?: number };
  /** A batch with enough updates is closed when no update came for this long. */
  readonly stallMs?: number;
  /** Everybody may read the models and results of the task: by default only its devices and tokens of the server. */
  readonly publicModels?: boolean;
  /** The number of devices that train at a time, or gave an update that is in no version yet; three times the updates of a step by default. */
  readonly places?: number;
}

/** A task as a server describes it (docs/http.md). */
export interface ServerTask extends Live.VersionScores {
  readonly task: string;
  readonly name: string;
  readonly policy: string;
  readonly mode: string;
  readonly state: string;
  readonly why?: string;
  /** Everybody may read its models and results. */
  readonly publicModels: boolean;
  readonly version?: number;
  readonly loss?: number;
  readonly model?: unknown;
  readonly batches: number;
  /** Updates on the newest version that are in no batch. */
  readonly gathered: number;
  readonly admission: Admission.AdmissionView;
  /** The mean age of the updates of the newest version. */
  readonly meanAge?: number;
  /** Means of the task's metrics over the devices of the newest version. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly privacy?: TaskPrivacy;
}

/** The noise of a task, and the promise of a private task to each of its devices. */
export interface TaskPrivacy {
  readonly noiseMultiplier: number;
  readonly colluders: number;
  readonly by: 'devices' | 'authority';
  /** These three in a private task. */
  readonly participations?: number;
  readonly delta?: number;
  /** After all participations. */
  readonly epsilon?: number;
}

interface BatchState {
  readonly ctx: string;
  readonly task: string;
  readonly status: string;
  readonly version: number;
  readonly bufferSize: number;
  readonly minimum: number;
  /** SHA-256 of the key of each device whose update is in it. */
  readonly users: readonly string[];
  /** The version that it is a part of. */
  readonly includedIn?: number;
}

/** One-shot: the status of an upload; `ctx` is its batch, and `version` the version made from it. */
export interface ShotState {
  readonly fate: string;
  readonly ctx?: string;
  readonly version?: number;
}

export interface VersionState extends Live.VersionScores {
  readonly version: number;
  readonly at: number;
  /** The batches in this version, and those that were left out because they were spoilt. */
  readonly sums: readonly string[];
  readonly spoilt: readonly string[];
  readonly accepted: number;
  readonly dropped: number;
  readonly meanAge?: number;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly loss?: number;
}

export class ServerOperator {
  readonly #options: OperatorOptions;
  constructor(options: OperatorOptions) {
    refusePlainHttp('server', options.url, options);
    this.#options = options;
  }

  about(): Promise<{ readonly publicKey: string; readonly authorityKeys: readonly string[] }> {
    return this.#json('GET', SERVER_PATH.about);
  }
  /** Of the token. */
  async roles(): Promise<readonly string[]> {
    return (await this.#json<{ roles: readonly string[] }>('GET', ROLES_PATH)).roles;
  }
  /** The first parameters of a task that is created next, by the hash in the answer. */
  keepFirst(parameters: Float32Array): Promise<{ readonly sha256: string }> {
    const { buffer, byteOffset, byteLength } = parameters;
    return this.#json('PUT', SERVER_PATH.firstParameters, new Uint8Array(buffer, byteOffset, byteLength));
  }
  createTask(specification: TaskSpecification): Promise<ServerTask> {
    return this.#json('POST', SERVER_PATH.tasks, specification);
  }
  async tasks(): Promise<readonly ServerTask[]> {
    return (await this.#json<{ tasks: readonly ServerTask[] }>('GET', SERVER_PATH.tasks)).tasks;
  }
  task(task: string): Promise<ServerTask> {
    return this.#json('GET', SERVER_PATH.task(task));
  }
  setState(task: string, state: 'running' | 'paused' | 'finished'): Promise<ServerTask> {
    return this.#json('PUT', SERVER_PATH.taskState(task), { state });
  }
  /** Gives how many rows the server deleted, by table. */
  async removeTask(task: string): Promise<Readonly<Record<string, number>>> {
    const { rows } = await this.#json<{ rows: Readonly<Record<string, number>> }>('DELETE', SERVER_PATH.task(task));
    return rows;
  }
  setExamples(task: string, file: Uint8Array): Promise<{ readonly samples: number }> {
    return this.#json('PUT', SERVER_PATH.evaluationSet(task), file);
  }
  /** The versions from this one on. */
  async versions(task: string, from = 0): Promise<readonly VersionState[]> {
    const path = `${SERVER_PATH.taskMetrics(task)}?from=${from}`;
    return (await this.#json<{ versions: readonly VersionState[] }>('GET', path)).versions;
  }
  /** The results of a statistics task, from this window on. */
  async statistics(task: string, from = 0): Promise<readonly WindowResult[]> {
    const path = `${SERVER_PATH.statistics(task)}?from=${from}`;
    return (await this.#json<{ windows: readonly WindowResult[] }>('GET', path)).windows;
  }
  batch(ctx: string): Promise<BatchState> {
    return this.#json('GET', SERVER_PATH.batch(ctx));
  }
  shot(task: string, upload: string): Promise<ShotState> {
    return this.#json('GET', SERVER_PATH.shotFate(task, upload));
  }
  async parameters(task: string, version: number): Promise<Float32Array> {
    const { bytes } = await ask(this.#options, 'GET', SERVER_PATH.model(task, version), undefined, LONG_BYTES);
    return new Float32Array(bytes.slice().buffer);
  }

  async #json<Answer>(method: string, path: string, body?: object | Uint8Array): Promise<Answer> {
    return (await ask(this.#options, method, path, body)).json<Answer>();
  }
}
