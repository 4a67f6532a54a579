/** What an operator asks of both services, with a token: tasks, enrolment tokens, revocations, logs. */
import { toHex } from '@basa/masking';
import type { AdmissionView, TaskPolicy } from '@basa/protocol';
import { AUTHORITY_PATH, encodePolicy, SERVER_PATH } from '@basa/protocol';
import { SettingsError, UnreachableError } from '../errors.ts';
import type { OperatorOptions } from './ask.ts';
import { ask } from './ask.ts';

/** A task as a server describes it (docs/http.md). */
export interface ServerTask {
  readonly task: string;
  readonly name: string;
  readonly policy: string;
  readonly mode: string;
  readonly state: string;
  readonly why?: string;
  readonly version?: number;
  readonly accuracy?: number;
  readonly loss?: number;
  readonly model?: unknown;
  readonly buffers: number;
  readonly admission: AdmissionView;
  /** Of the updates of the newest version. */
  readonly meanAge?: number;
  /** Means of the task's metrics over the devices of the newest version. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly privacy?: TaskPrivacy;
}

/** What a private task promises each of its devices. */
export interface TaskPrivacy {
  readonly noiseMultiplier: number;
  readonly colluders: number;
  readonly participations: number;
  readonly delta: number;
  /** After all participations. */
  readonly epsilon: number;
}

/** A device beside which sums were spoilt. */
export interface SuspectState {
  /** SHA-256 of its key. */
  readonly user: string;
  /** How likely it is that it spoils sums. */
  readonly suspicion: number;
  readonly state: 'clear' | 'suspect' | 'suspended' | 'banned';
  readonly spoilt: number;
  readonly suspensions: number;
  /** How many sums of the task its suspension goes on for. */
  readonly sumsLeft?: number;
}

export interface BufferState {
  readonly ctx: string;
  readonly task: string;
  readonly status: string;
  readonly version: number;
  readonly bufferSize: number;
  readonly minimum: number;
  readonly expiry: number;
  readonly closeBy: number;
  readonly slots: readonly {
    readonly slot: number;
    readonly user: string;
    readonly status: string;
    readonly deadline: number;
    readonly voids: readonly number[];
  }[];
  readonly accepted: readonly number[];
}

export interface VersionState {
  readonly version: number;
  readonly at: number;
  readonly ctx: string;
  readonly accepted: number;
  readonly dropped: number;
  readonly meanAge?: number;
  readonly metrics?: Readonly<Record<string, number>>;
  readonly accuracy?: number;
  readonly loss?: number;
}

/** A task as the authority lists it. */
export interface AuthorityTask {
  readonly task: string;
  readonly name: string;
  readonly version?: number;
  readonly devices: number;
}

export interface EnrolledDevice {
  /** SHA-256 of its key. */
  readonly user: string;
  readonly deviceKey: string;
  /** Of its newest certificate. */
  readonly issuedAt: number;
  readonly notAfter: number;
  readonly revoked: boolean;
}

export class ServerOperator {
  readonly #options: OperatorOptions;
  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  about(): Promise<{ readonly publicKey: string; readonly authorityKeys: readonly string[] }> {
    return this.#json('GET', SERVER_PATH.about);
  }
  createTask(specification: object): Promise<ServerTask> {
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
  async suspects(task: string): Promise<readonly SuspectState[]> {
    return (await this.#json<{ suspects: readonly SuspectState[] }>('GET', SERVER_PATH.suspicions(task))).suspects;
  }
  /** `clear`: as if the device were new. `banned`: it gets no seat any more. */
  decideSuspect(task: string, user: string, state: 'clear' | 'banned'): Promise<SuspectState> {
    return this.#json('PUT', SERVER_PATH.suspicion(task, user), { state });
  }
  async removeTask(task: string): Promise<void> {
    await ask(this.#options, 'DELETE', SERVER_PATH.task(task));
  }
  setExamples(task: string, file: Uint8Array): Promise<{ readonly samples: number }> {
    return this.#json('PUT', SERVER_PATH.evaluationSet(task), file);
  }
  async versions(task: string): Promise<readonly VersionState[]> {
    return (await this.#json<{ versions: readonly VersionState[] }>('GET', SERVER_PATH.taskMetrics(task))).versions;
  }
  buffer(ctx: string): Promise<BufferState> {
    return this.#json('GET', SERVER_PATH.buffer(ctx));
  }
  async parameters(task: string, version: number): Promise<Float32Array> {
    const response = await ask(this.#options, 'GET', SERVER_PATH.model(task, version));
    return new Float32Array(await response.arrayBuffer());
  }

  async #json<Answer>(method: string, path: string, body?: object | Uint8Array): Promise<Answer> {
    return (await (await ask(this.#options, method, path, body)).json()) as Answer;
  }
}

export interface AuthorityOperatorOptions extends OperatorOptions {
  /**
   * An authority of several was not in reach: the others know, and it must be told again later. Where this is missing, one that
   * is not in reach is an error.
   */
  readonly onMissed?: (error: UnreachableError) => void;
}

/** One authority, or several that a task has: what changes something is done at each of them. */
export class AuthorityOperator {
  readonly #all: readonly OperatorOptions[];
  readonly #onMissed: AuthorityOperatorOptions['onMissed'];

  /** Several addresses have commas between them. So have their tokens, where not one opens all of them. */
  constructor(options: AuthorityOperatorOptions) {
    const tokens = options.token?.split(',') ?? [];
    const urls = options.url.split(',');
    if (tokens.length > 1 && tokens.length !== urls.length)
      throw new SettingsError(
        `there are ${urls.length} authorities and ${tokens.length} tokens: give one for all, or one each`,
      );
    this.#all = urls.map((url, n) => ({ ...options, url, token: tokens[n] ?? tokens[0] }));
    this.#onMissed = options.onMissed;
  }

  async publicKey(): Promise<string> {
    return (await this.publicKeys()).join(',');
  }
  async publicKeys(): Promise<readonly string[]> {
    const about = async (one: OperatorOptions): Promise<string> =>
      ((await (await ask(one, 'GET', AUTHORITY_PATH.about)).json()) as { publicKey: string }).publicKey;
    return Promise.all(this.#all.map(about));
  }
  async createTask(policy: TaskPolicy): Promise<string> {
    const [first] = await Promise.all(
      this.#all.map(async (one) => (await ask(one, 'POST', AUTHORITY_PATH.tasks, encodePolicy(policy))).json()),
    );
    return (first as { task: string }).task;
  }
  async tasks(): Promise<readonly AuthorityTask[]> {
    const response = await this.#first((one) => ask(one, 'GET', AUTHORITY_PATH.tasks));
    return ((await response.json()) as { tasks: readonly AuthorityTask[] }).tasks;
  }
  /** All of them, in the order of their names. */
  async devices(task: string): Promise<readonly EnrolledDevice[]> {
    const all: EnrolledDevice[] = [];
    for (let from: string | undefined = ''; from !== undefined; ) {
      const path = `${AUTHORITY_PATH.devices(task)}?from=${from}`;
      const response = await this.#first((one) => ask(one, 'GET', path));
      const page = (await response.json()) as { devices: readonly EnrolledDevice[]; next?: string };
      all.push(...page.devices);
      from = page.next;
    }
    return all;
  }
  async tokens(task: string, count: number, endsAt: number): Promise<readonly string[]> {
    let tokens: readonly string[] | undefined;
    await this.#each(async (one) => {
      const body = tokens === undefined ? { count, endsAt } : { tokens, endsAt };
      const response = await ask(one, 'POST', AUTHORITY_PATH.tokens(task), body);
      tokens ??= ((await response.json()) as { tokens: readonly string[] }).tokens;
    });
    return tokens ?? [];
  }
  async allow(task: string, deviceKeys: readonly string[]): Promise<number> {
    const answers: { allowed: number }[] = [];
    await this.#each(async (one) => {
      const response = await ask(one, 'PUT', AUTHORITY_PATH.allowList(task), { deviceKeys });
      answers.push((await response.json()) as { allowed: number });
    });
    return answers[0]?.allowed ?? 0;
  }
  async revoke(user: string): Promise<void> {
    await this.#each((one) => ask(one, 'POST', AUTHORITY_PATH.revocations, { user }));
  }
  /** Of each. */
  async logs(): Promise<readonly Uint8Array[]> {
    const log = async (one: OperatorOptions): Promise<Uint8Array> =>
      new Uint8Array(await (await ask(one, 'GET', AUTHORITY_PATH.log)).arrayBuffer());
    return Promise.all(this.#all.map(log));
  }

  /** One after the other. Where all are out of reach nothing was done, and that is an error. */
  async #each(work: (one: OperatorOptions) => Promise<unknown>): Promise<void> {
    const missed: UnreachableError[] = [];
    for (const one of this.#all)
      await work(one).catch((error: unknown) => {
        if (!(error instanceof UnreachableError) || this.#onMissed === undefined) throw error;
        missed.push(error);
      });
    if (missed[0] !== undefined && missed.length === this.#all.length) throw missed[0];
    for (const error of missed) this.#onMissed?.(error);
  }

  /** Of the first one that is in reach. */
  async #first<Answer>(work: (one: OperatorOptions) => Promise<Answer>): Promise<Answer> {
    let failure: unknown;
    for (const one of this.#all)
      try {
        return await work(one);
      } catch (error) {
        if (!(error instanceof UnreachableError)) throw error;
        failure ??= error;
      }
    throw failure;
  }
}

export function hashOfToken(sha256: (bytes: Uint8Array) => Uint8Array, token: string): string {
  return toHex(sha256(new TextEncoder().encode(token)));
}
