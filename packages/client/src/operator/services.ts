/** An operator's requests to both services, with a token: tasks, enrolment tokens, revocations, logs. */
import { toHex } from '@basa/masking';
import {
  type AdmissionView,
  AUTHORITY_PATH,
  encodePolicy,
  type Line,
  lineCodec,
  type Scores,
  SERVER_PATH,
  type TaskPolicy,
  type Term,
  termCodec,
} from '@basa/protocol';
import { AnswerError, isOfService, SettingsError } from '../errors.ts';
import { ask, type OperatorOptions } from './ask.ts';
import type { TaskSpecification } from './task-specification.ts';

/** A task as a server describes it (docs/http.md). */
export interface ServerTask extends Scores {
  readonly task: string;
  readonly name: string;
  readonly policy: string;
  readonly mode: string;
  readonly state: string;
  readonly why?: string;
  readonly version?: number;
  readonly loss?: number;
  readonly model?: unknown;
  readonly buffers: number;
  readonly admission: AdmissionView;
  /** The mean age of the updates of the newest version. */
  readonly meanAge?: number;
  /** Means of the task's metrics over the devices of the newest version. */
  readonly metrics?: Readonly<Record<string, number>>;
  readonly privacy?: TaskPrivacy;
}

/** The promise of a private task to each of its devices. */
export interface TaskPrivacy {
  readonly noiseMultiplier: number;
  readonly colluders: number;
  readonly participations: number;
  readonly delta: number;
  /** After all participations. */
  readonly epsilon: number;
}

/** A device that took part in spoilt sums. */
export interface SuspectState {
  /** SHA-256 of its key. */
  readonly user: string;
  /** The probability that it spoils sums. */
  readonly suspicion: number;
  readonly state: 'clear' | 'suspect' | 'suspended' | 'banned';
  readonly spoilt: number;
  readonly suspensions: number;
  /** The number of sums of the task until its suspension ends. */
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

/** One-shot: the status of an upload; `ctx` is its batch, and `version` the version made from it. */
export interface ShotState {
  readonly fate: string;
  readonly ctx?: string;
  readonly version?: number;
}

export interface VersionState extends Scores {
  readonly version: number;
  readonly at: number;
  /** The buffers or batches in this version, and those that were left out because they were spoilt. */
  readonly sums: readonly string[];
  readonly spoilt: readonly string[];
  readonly accepted: number;
  readonly dropped: number;
  readonly meanAge?: number;
  readonly metrics?: Readonly<Record<string, number>>;
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
  async suspects(task: string): Promise<readonly SuspectState[]> {
    return (await this.#json<{ suspects: readonly SuspectState[] }>('GET', SERVER_PATH.suspicions(task))).suspects;
  }
  /** `clear`: treats the device as new. `banned`: it gets no seat any more. */
  decideSuspect(task: string, user: string, state: 'clear' | 'banned'): Promise<SuspectState> {
    return this.#json('PUT', SERVER_PATH.suspicion(task, user), { state });
  }
  /** Gives how many rows the server deleted, by table. */
  async removeTask(task: string): Promise<Readonly<Record<string, number>>> {
    const { rows } = await this.#json<{ rows: Readonly<Record<string, number>> }>('DELETE', SERVER_PATH.task(task));
    return rows;
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
  shot(task: string, upload: string): Promise<ShotState> {
    return this.#json('GET', SERVER_PATH.shotFate(task, upload));
  }
  async parameters(task: string, version: number): Promise<Float32Array> {
    const { bytes } = await ask(this.#options, 'GET', SERVER_PATH.model(task, version));
    return new Float32Array(bytes.slice().buffer);
  }

  /** The policy of a task in its first term, and its terms. */
  async line(task: string): Promise<Line> {
    return lineCodec.decode((await ask(this.#options, 'GET', SERVER_PATH.line(task))).bytes);
  }
  /** Shows it terms that enough authorities signed. */
  async showLine(task: string, line: Line): Promise<void> {
    await ask(this.#options, 'PUT', SERVER_PATH.line(task), lineCodec.encode(line));
  }

  async #json<Answer>(method: string, path: string, body?: object | Uint8Array): Promise<Answer> {
    return (await ask(this.#options, method, path, body)).json<Answer>();
  }
}

export interface AuthorityOperatorOptions extends OperatorOptions {
  /**
   * Called if one of several authorities could not be reached or refused: the others know, and it must be told again
   * later. Without this callback it is an error, raised after the others were told.
   */
  readonly onMissed?: (error: Error) => void;
}

/** One authority, or several that a task has: every change is made at each of them. */
export class AuthorityOperator {
  readonly #all: readonly OperatorOptions[];
  readonly #onMissed: AuthorityOperatorOptions['onMissed'];

  /** Separate several addresses with commas, and also their tokens, unless one token is valid for all. */
  constructor(options: AuthorityOperatorOptions) {
    const tokens = options.token?.split(',') ?? [];
    const urls = options.url.split(',');
    if (tokens.length > 1 && tokens.length !== urls.length)
      throw new SettingsError(
        `${tokens.length} tokens were given for ${urls.length === 1 ? 'one authority' : `${urls.length} authorities`}; give one token for all, or one for each`,
      );
    this.#all = urls.map((url, n) => ({ ...options, url, token: tokens[n] ?? tokens[0] }));
    this.#onMissed = options.onMissed;
  }

  async publicKey(): Promise<string> {
    return (await this.publicKeys()).join(',');
  }
  async publicKeys(): Promise<readonly string[]> {
    const about = async (one: OperatorOptions): Promise<string> =>
      (await ask(one, 'GET', AUTHORITY_PATH.about)).json<{ publicKey: string }>().publicKey;
    return Promise.all(this.#all.map(about));
  }
  /** Creates the task at all of them. The name of the task is always the hash of its policy. */
  async createTask(policy: TaskPolicy): Promise<string> {
    const bytes = encodePolicy(policy);
    const task = toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.slice())));
    await Promise.all(
      this.#all.map(async (one) => {
        const told = (await ask(one, 'POST', AUTHORITY_PATH.tasks, bytes)).json<{ task: string }>();
        if (told.task !== task) throw new AnswerError(one.url, `the task ${told.task} instead of ${task}`);
      }),
    );
    return task;
  }
  tasks(): Promise<readonly AuthorityTask[]> {
    return this.#first(async (one) => {
      const { tasks } = (await ask(one, 'GET', AUTHORITY_PATH.tasks)).json<{ tasks: readonly AuthorityTask[] }>();
      return listed(one, tasks);
    });
  }
  /** All of them, in the order of their names. */
  devices(task: string): Promise<readonly EnrolledDevice[]> {
    return this.#first(async (one) => {
      const all: EnrolledDevice[] = [];
      for (let from: string | undefined = ''; from !== undefined; ) {
        const told = await ask(one, 'GET', `${AUTHORITY_PATH.devices(task)}?from=${from}`);
        const page: { devices: readonly EnrolledDevice[]; next?: string } = told.json();
        all.push(...listed(one, page.devices));
        if (page.next !== undefined && !(page.next > from)) throw new AnswerError(one.url, 'a list that has no end');
        from = page.next;
      }
      return all;
    });
  }
  /** Made here, so that no authority chooses them. */
  async tokens(task: string, count: number, endsAt: number): Promise<readonly string[]> {
    const tokens = Array.from({ length: count }, newToken);
    await this.#each((one) => ask(one, 'POST', AUTHORITY_PATH.tokens(task), { tokens, endsAt }));
    return tokens;
  }
  /** Returns the length of the list now, as the median of the authorities that were reached. */
  async allow(task: string, deviceKeys: readonly string[]): Promise<number> {
    const answers = await this.#each(async (one) =>
      (await ask(one, 'PUT', AUTHORITY_PATH.allowList(task), { deviceKeys })).json<{ allowed: number }>(),
    );
    const counts = answers.map(({ allowed }) => Number(allowed)).sort((a, b) => a - b);
    return counts[Math.floor(counts.length / 2)] ?? 0;
  }
  async revoke(user: string): Promise<void> {
    await this.#each((one) => ask(one, 'POST', AUTHORITY_PATH.revocations, { user }));
  }
  /** The policy of a task in its first term, and its terms. */
  line(task: string): Promise<Line> {
    return this.#first(async (one) => lineCodec.decode((await ask(one, 'GET', AUTHORITY_PATH.line(task))).bytes));
  }
  /** Shows all of them terms that enough authorities signed; a successor learns its task by it. */
  async showLine(task: string, line: Line): Promise<void> {
    await this.#each((one) => ask(one, 'PUT', AUTHORITY_PATH.line(task), lineCodec.encode(line)));
  }
  /** Has each of them sign a successor: as a seat of the task, or as the key that takes one. */
  async signTerm(task: string, term: Term): Promise<Term> {
    let signed = term;
    for (const one of this.#all)
      signed = termCodec.decode((await ask(one, 'POST', AUTHORITY_PATH.terms(task), termCodec.encode(signed))).bytes);
    return signed;
  }
  /** The last head of each authority's log, in hex. */
  async heads(): Promise<readonly string[]> {
    const about = async (one: OperatorOptions): Promise<string> =>
      (await ask(one, 'GET', AUTHORITY_PATH.about)).json<{ head: string }>().head;
    return Promise.all(this.#all.map(about));
  }
  /** Returns the log of each authority. */
  async logs(): Promise<readonly Uint8Array[]> {
    return Promise.all(this.#all.map(async (one) => (await ask(one, 'GET', AUTHORITY_PATH.log)).bytes));
  }

  /** Sends the request to all, even if one of them fails. If none of them carried it out, that is an error. */
  async #each<Answer>(work: (one: OperatorOptions) => Promise<Answer>): Promise<readonly Answer[]> {
    const settled = await Promise.allSettled(this.#all.map(work));
    const done = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    const missed = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
    const faults = missed.filter((error) => !(isOfService(error) || error instanceof AnswerError));
    const isError = done.length === 0 || faults.length > 0 || this.#onMissed === undefined;
    if (missed.length > 0 && isError) throw faults[0] ?? missed[0];
    for (const error of missed) this.#onMissed?.(error);
    return done;
  }

  /** Returns the first valid answer of an authority. */
  async #first<Answer>(work: (one: OperatorOptions) => Promise<Answer>): Promise<Answer> {
    let failure: unknown;
    for (const one of this.#all)
      try {
        return await work(one);
      } catch (error) {
        if (!(isOfService(error) || error instanceof AnswerError)) throw error;
        failure ??= error;
      }
    throw failure;
  }
}

function listed<Item>({ url }: OperatorOptions, items: readonly Item[]): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw new AnswerError(url, 'an invalid list');
}

const TOKEN_BYTES = 24;

/** People type tokens after a flag: a token that begins like a flag would be read as one. */
function newToken(): string {
  const text = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(TOKEN_BYTES))));
  const token = text.replaceAll('+', '-').replaceAll('/', '_');
  return token.startsWith('-') ? newToken() : token;
}

export function hashOfToken(sha256: (bytes: Uint8Array) => Uint8Array, token: string): string {
  return toHex(sha256(new TextEncoder().encode(token)));
}
