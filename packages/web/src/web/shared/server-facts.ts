/** A page's first questions to its server: the addresses of the authorities, and the tasks. */
import { equalBytes, fromHex } from '@basa/masking';
import { type PageSettings, SERVER_PATH } from '@basa/protocol/http';
import { decodePolicy, type NoiseWords, noiseWords, type Sealing } from '@basa/protocol/policy';

/** A task as the server describes it (docs/http.md). */
export interface TaskFacts {
  readonly task: string;
  readonly name: string;
  /** In hex. */
  readonly policy: string;
  readonly mode: string;
  readonly state: string;
  /** False if the server shows models and results only to devices and operators. */
  readonly publicModels: boolean;
  readonly version?: number;
  readonly accuracy?: number;
  readonly model?: unknown;
}

/** The address of an authority, and the key that the server claims it has. */
export interface AuthorityPlace {
  readonly url: string;
  readonly key: Uint8Array;
}

export interface ServerFacts {
  readonly settings: PageSettings;
  /** All authorities that the server knows. */
  readonly authorities: readonly AuthorityPlace[];
  readonly tasks: readonly TaskFacts[];
}

export async function serverFacts(): Promise<ServerFacts> {
  const [settings, about, listed] = await Promise.all([
    ask<PageSettings>(SERVER_PATH.page),
    ask<{ authorityKeys: readonly string[] }>(SERVER_PATH.about),
    ask<{ tasks: readonly TaskFacts[] }>(SERVER_PATH.tasks),
  ]);
  const urls = settings.authority.split(',');
  const authorities = about.authorityKeys.map((key, n) => ({ url: urls[n] ?? '', key: bytesOf(key) }));
  return { settings, authorities, tasks: listed.tasks };
}

/** Returns the authorities of a task, in the order of its policy, and the number of them that are needed. */
export function authoritiesOf(
  { authorities }: ServerFacts,
  { policy }: TaskFacts,
): { readonly places: readonly AuthorityPlace[]; readonly needed: number } {
  const { authorities: keys, threshold } = decodePolicy(bytesOf(policy));
  const places = keys.flatMap((key) => authorities.filter((place) => equalBytes(place.key, key)));
  return { places, needed: threshold };
}

/** The noise of a task, in words. */
export function noiseOf({ policy }: TaskFacts): NoiseWords {
  return noiseWords(decodePolicy(bytesOf(policy)));
}

/** The sealing of a one-shot task; undefined in the other modes. */
export function sealingOf({ policy }: TaskFacts): Sealing | undefined {
  return decodePolicy(bytesOf(policy)).oneShot?.sealing;
}

/** True if devices report numbers instead of training a model. */
export function isStatistics({ policy }: TaskFacts): boolean {
  return decodePolicy(bytesOf(policy)).statistics !== undefined;
}

function bytesOf(hex: string): Uint8Array {
  return fromHex(hex) ?? new Uint8Array();
}

/** The task in the address, or the last running task. */
export function chosenTask(tasks: readonly TaskFacts[], wanted: string | null): TaskFacts | undefined {
  return (
    tasks.find(({ task }) => task === wanted) ?? tasks.filter(({ state }) => state === 'running').at(-1) ?? tasks.at(-1)
  );
}

async function ask<Answer>(path: string): Promise<Answer> {
  const answer = await fetch(path, { credentials: 'omit', cache: 'no-store' });
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as Answer;
}
