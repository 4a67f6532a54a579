/** An operator's requests to one authority or to several, with tokens: tasks, enrolment, revocations, exports. */
import { fromHex, toHex } from '@basa/masking';
import { AUTHORITY_PATH, ROLES_PATH } from '@basa/protocol/http';
import { TaskPolicy } from '@basa/protocol/policy';
import { Devices } from '@basa/protocol/wire';
import { webSuite } from '@basa/runtime/web';
import { AnswerError, isOfService, SettingsError } from '../errors.ts';
import { refusePlainHttp } from '../services/attempts.ts';
import { ask, type OperatorOptions } from './ask.ts';

/** One for each device, which alone keeps it. */
export function newEnrolmentTokens(count: number): readonly string[] {
  return Array.from({ length: count }, () =>
    toHex(crypto.getRandomValues(new Uint8Array(Devices.ENROLMENT_TOKEN_BYTES))),
  );
}

/** The hashes that the owner of the authority with this key registers: of no use to anybody else, and not enough to enrol. */
export function enrolmentHashes(tokens: readonly string[], authorityKey: string): readonly string[] {
  const key = bytesOf(authorityKey, 'authorityKey');
  return tokens.map((token) => toHex(Devices.enrolmentHash(webSuite, bytesOf(token, 'an enrolment token'), key)));
}

function bytesOf(hex: string, name: string): Uint8Array {
  const bytes = fromHex(hex);
  if (bytes?.length !== 32) throw new RangeError(`${name} must be 64 lower-case hexadecimal digits`);
  return bytes;
}

/** A task as the authority lists it. */
interface AuthorityTask {
  readonly task: string;
  readonly name: string;
  readonly version?: number;
  readonly devices: number;
}

interface EnrolledDevice {
  /** SHA-256 of its key. */
  readonly user: string;
  readonly deviceKey: string;
  /** Of its newest certificate. */
  readonly revoked: boolean;
}

/** The export of one authority for a successor. */
interface ExportedDevices {
  /** The public key of the authority. */
  readonly authority: string;
  /** Of the task that it exports, and pages of its devices; in hexadecimal. */
  readonly policy: string;
  readonly pages: readonly string[];
}

interface ImportedDevices {
  readonly enrolled: number;
  readonly revoked: number;
  readonly unknown: number;
}

interface AuthorityOperatorOptions extends OperatorOptions {
  /**
   * Called if one of several authorities could not be reached or refused: the others know, and it must be told again
   * later. Without this callback it is an error, raised after the others were told.
   */
  readonly onMissed?: (error: Error) => void;
}

/** One authority, or several that a task has: every change is made at each of them. */
export class AuthorityOperator {
  readonly #all: readonly OperatorOptions[];
  /** Those whose token is known; all if none is. */
  readonly #owned: readonly OperatorOptions[];
  readonly #onMissed: AuthorityOperatorOptions['onMissed'];

  /** Separate several addresses with commas, and also their tokens, one for each; empty for an authority of another owner. */
  constructor(options: AuthorityOperatorOptions) {
    const tokens = options.token?.split(',') ?? [];
    const urls = options.url.split(',');
    for (const url of urls) refusePlainHttp('authority', url, options);
    // An authority that got the token of another one could act as its operator.
    if (tokens.length > 0 && tokens.length !== urls.length)
      throw new SettingsError(
        `${counted(tokens.length, 'token was', 'tokens were')} given for ${counted(urls.length, 'authority', 'authorities')}; give one token for each authority, separated by commas (BASA_AUTHORITY_TOKEN or --authority-token)`,
      );
    this.#all = urls.map((url, n) => ({ ...options, url, token: tokens[n] || undefined }));
    const owned = this.#all.filter(({ token }) => token !== undefined);
    this.#owned = owned.length === 0 ? this.#all : owned;
    this.#onMissed = options.onMissed;
  }

  /** One operator for each authority whose token is known: an owner has only its own. */
  owned(): readonly AuthorityOperator[] {
    return this.#owned.map((one) => new AuthorityOperator(one));
  }

  /** One operator for each authority, to compare their answers. */
  apart(): readonly AuthorityOperator[] {
    return this.#all.map((one) => new AuthorityOperator(one));
  }

  async publicKey(): Promise<string> {
    return (await this.publicKeys()).join(',');
  }
  async publicKeys(): Promise<readonly string[]> {
    return Promise.all(this.#all.map(publicKeyOf));
  }
  /** Of the token at the first authority that answers. */
  roles(): Promise<readonly string[]> {
    return this.#first(async (one) =>
      listed(one, (await ask(one, 'GET', ROLES_PATH)).json<{ roles: string[] }>().roles),
    );
  }
  /** Creates the task at all of them. The name of the task is always the hash of its policy. */
  async createTask(policy: TaskPolicy): Promise<string> {
    const bytes = TaskPolicy.encode(policy);
    const task = await hashOf(bytes);
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
  /** How many devices each authority let in and did not revoke, which anybody may ask; undefined if it does not answer. */
  deviceCounts(task: string): Promise<readonly { readonly authority: string; readonly devices: number | undefined }[]> {
    return Promise.all(
      this.#all.map(async (one) => {
        const told = await ask(unnamed(one), 'GET', AUTHORITY_PATH.deviceCount(task)).catch(() => undefined);
        return { authority: one.url, devices: told?.json<{ devices: number }>().devices };
      }),
    );
  }
  /** All of them, in the order of their names. */
  devices(task: string): Promise<readonly EnrolledDevice[]> {
    return this.#first(async (one) => {
      const all: EnrolledDevice[] = [];
      for (let from: string | undefined = ''; from !== undefined; ) {
        const told = await ask(one, 'GET', `${AUTHORITY_PATH.devices(task)}?from=${from}`);
        const page: { devices: readonly EnrolledDevice[]; next?: string } = told.json();
        for (const device of listed(one, page.devices)) {
          if ((await hashOf(fromHex(device.deviceKey) ?? new Uint8Array())) !== device.user)
            throw new AnswerError(one.url, 'a device whose user id is not the hash of its key');
          all.push(device);
        }
        if (page.next !== undefined && !(page.next > from)) throw new AnswerError(one.url, 'a list that has no end');
        from = page.next;
      }
      return all;
    });
  }
  /** Lets devices in by their tokens: registers at each authority the hashes for its own key (`enrolmentHashes`). Returns their number. */
  async register(
    task: string,
    hashesFor: (authorityKey: string) => readonly string[],
    endsAt: number,
  ): Promise<number> {
    const counts = await this.#each(async (one) => {
      const hashes = hashesFor(await publicKeyOf(one));
      for (let at = 0; at < hashes.length; at += AT_ONCE)
        await ask(one, 'POST', AUTHORITY_PATH.tokens(task), { hashes: hashes.slice(at, at + AT_ONCE), endsAt });
      return hashes.length;
    });
    return Math.max(...counts);
  }
  /** For one person who runs every authority, as in development: makes tokens, and registers them at each. */
  async tokens(task: string, count: number, endsAt: number): Promise<readonly string[]> {
    const tokens = newEnrolmentTokens(count);
    await this.register(task, (key) => enrolmentHashes(tokens, key), endsAt);
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
  /** The devices of a task for the task that succeeds it, as each authority signs them. */
  exportDevices(task: string, successor: string): Promise<readonly ExportedDevices[]> {
    return this.#each(async (one) => {
      const policy = toHex((await ask(unnamed(one), 'GET', AUTHORITY_PATH.policy(task))).bytes);
      const pages: string[] = [];
      for (let from: string | undefined = ''; from !== undefined; ) {
        const told = await ask(one, 'GET', `${AUTHORITY_PATH.deviceExport(task, successor)}?from=${from}`);
        const { page, next }: { page: string; next?: string } = told.json();
        pages.push(page);
        if (next !== undefined && !(next > from)) throw new AnswerError(one.url, 'a list that has no end');
        from = next;
      }
      return { authority: await publicKeyOf(one), policy, pages };
    });
  }
  /** Returns the numbers of devices, as the first authority judges them by everything that it was told. */
  async importDevices(
    task: string,
    { policy, pages }: Pick<ExportedDevices, 'policy' | 'pages'>,
  ): Promise<ImportedDevices> {
    const answers = await this.#each(async (one) => {
      let told: ImportedDevices = { enrolled: 0, revoked: 0, unknown: 0 };
      for (let at = 0; at < pages.length; at += PAGES_AT_ONCE) {
        const body = { policy, pages: pages.slice(at, at + PAGES_AT_ONCE) };
        told = (await ask(one, 'POST', AUTHORITY_PATH.deviceImport(task), body)).json<ImportedDevices>();
      }
      return told;
    });
    return answers[0] as ImportedDevices;
  }
  async revoke(user: string): Promise<void> {
    await this.#each((one) => ask(one, 'POST', AUTHORITY_PATH.revocations, { user }));
  }
  /** Sends the request to all of this owner, even if one of them fails. If none of them carried it out, that is an error. */
  async #each<Answer>(work: (one: OperatorOptions) => Promise<Answer>): Promise<readonly Answer[]> {
    const settled = await Promise.allSettled(this.#owned.map(work));
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
    for (const one of this.#owned)
      try {
        return await work(one);
      } catch (error) {
        if (!(isOfService(error) || error instanceof AnswerError)) throw error;
        failure ??= error;
      }
    throw failure;
  }
}

/** The most hashes that one request may have. */
const AT_ONCE = 1000;
/** Of an import. */
const PAGES_AT_ONCE = 32;

async function publicKeyOf(one: OperatorOptions): Promise<string> {
  return (await ask(unnamed(one), 'GET', AUTHORITY_PATH.about)).json<{ publicKey: string }>().publicKey;
}

async function hashOf(bytes: Uint8Array): Promise<string> {
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes.slice())));
}

/** One token for several authorities. Only for authorities of one owner: each of them learns it, and may use it at the others. */
export function tokenForAll(url: string, token: string): string {
  return url.replaceAll(/[^,]+/g, () => token);
}

/** For a route that is open to anybody. */
function unnamed(one: OperatorOptions): OperatorOptions {
  return { ...one, token: undefined };
}

function counted(many: number, one: string, several: string): string {
  return `${many === 1 ? 'one' : many} ${many === 1 ? one : several}`;
}

function listed<Item>({ url }: OperatorOptions, items: readonly Item[]): readonly Item[] {
  if (Array.isArray(items)) return items;
  throw new AnswerError(url, 'an invalid list');
}

export function hashOfToken(sha256: (bytes: Uint8Array) => Uint8Array, token: string): string {
  return toHex(sha256(new TextEncoder().encode(token)));
}
