/** What a page knows of its server and of a task: the authorities, the tasks, and the live state of one. */
import { equalBytes, fromHex } from '@basa/masking';
import { type Gathering, Live, SERVER_PATH } from '@basa/protocol/http';
import { Privacy, type Sealing, TaskPolicy, type Training } from '@basa/protocol/policy';
import { percent } from './format.ts';

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
  readonly settings: Live.PageSettings;
  /** All authorities that the server knows. */
  readonly authorities: readonly AuthorityPlace[];
  readonly tasks: readonly TaskFacts[];
}

export async function serverFacts(): Promise<ServerFacts> {
  const [settings, about, listed] = await Promise.all([
    ask<Live.PageSettings>(SERVER_PATH.page),
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
  const { authorities: keys, threshold } = TaskPolicy.decode(bytesOf(policy));
  const places = keys.flatMap((key) => authorities.filter((place) => equalBytes(place.key, key)));
  return { places, needed: threshold };
}

/** The noise of a task, in words. */
export function noiseOf({ policy }: TaskFacts): Privacy.NoiseWords {
  return Privacy.noiseWords(TaskPolicy.decode(bytesOf(policy)));
}

/** The sealing of a one-shot task; undefined in the other modes. */
export function sealingOf({ policy }: TaskFacts): Sealing | undefined {
  return TaskPolicy.decode(bytesOf(policy)).oneShot?.sealing;
}

/** True if devices report numbers instead of training a model. */
export function isStatistics({ policy }: TaskFacts): boolean {
  return TaskPolicy.decode(bytesOf(policy)).statistics !== undefined;
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

type Shown = NonNullable<ReturnType<typeof Live.shownScore>>;

function labelOf(name: string): string {
  return name === 'r2' ? 'R2' : name;
}

export function lossOf({ policy }: Pick<TaskFacts, 'policy'>): Training.Loss {
  return TaskPolicy.decode(fromHex(policy) ?? new Uint8Array()).training.loss;
}

/** The axis of a plot. */
interface ScoreAxis {
  readonly y: string;
  readonly range?: readonly [number, number];
  formatY(value: number): string;
}

/** Of the scores so far; before the first one, of the score that the loss of the task determines. */
export function scoreAxis(task: Pick<TaskFacts, 'policy'>, versions: readonly Live.VersionScores[] = []): ScoreAxis {
  const name =
    versions.map(Live.shownScore).find((score) => score !== undefined)?.name ?? Live.SCORE_OF_LOSS[lossOf(task)];
  // R2 may lie far below 0 at first, and the operator's own score anywhere.
  if (name !== 'accuracy') return { y: labelOf(name), formatY: (value) => String(Number(value.toPrecision(3))) };
  return { y: name, range: [0, 1], formatY: (value) => `${Math.round(100 * value)} %` };
}

/** `87.5 %`, or `0.875` for an R2. A dash if there is no score. */
export function scoreValue(score: Shown | undefined): string {
  if (score === undefined) return '–';
  if (score.name === 'accuracy') return percent(score.value);
  return score.name === 'r2' ? score.value.toFixed(3) : String(Number(score.value.toPrecision(4)));
}

/** `an accuracy of 87.5 %`, `an R2 of 0.875`, or the operator's word and number. */
export function scoreWords(score: Shown): string {
  const [label, value] = [labelOf(score.name), scoreValue(score)];
  return label === 'accuracy' || label === 'R2' ? `an ${label} of ${value}` : `${label} ${value}`;
}

export interface Watched extends Live.LiveState {
  /** The server's clock minus ours. */
  readonly aheadMs: number;
}

interface LiveListener {
  onState(state: Watched): void;
  /** Tells whether the server can be reached; if not, the reason, if it gave one. */
  onLink(isThere: boolean, why?: string): void;
  /** The server shows this only to operators, and not to this one. */
  onRefused(): void;
}

const RETRY_MS = 1000;
/** After a server that has no room for another listener. */
const FULL_RETRY_MS = 10_000;

/** Reconnects automatically while the page is open. An EventSource would do this too, but it cannot send an operator's token. */
export async function watchTask(task: string, listener: LiveListener, operatorToken?: string): Promise<void> {
  const headers = operatorToken === undefined ? {} : { authorization: `Bearer ${operatorToken}` };
  for (;;) {
    let why: string | undefined;
    try {
      const answer = await fetch(SERVER_PATH.events(task), { headers, credentials: 'omit', cache: 'no-store' });
      if (answer.status === 401 || answer.status === 403) return listener.onRefused();
      if (answer.ok && answer.body !== null) await hear(answer.body, listener);
      else if (answer.status === 429) why = ((await answer.json()) as { readonly detail?: string }).detail;
    } catch {
      // After any failure the stream is tried again.
    }
    listener.onLink(false, why);
    await new Promise((resolve) => setTimeout(resolve, why === undefined ? RETRY_MS : FULL_RETRY_MS));
  }
}

async function hear(body: ReadableStream<Uint8Array>, { onState, onLink }: LiveListener): Promise<void> {
  const versions = new Map<number, Live.LiveVersion>();
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  onLink(true);
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const messages = (text + value).split('\n\n');
    text = messages.pop() ?? '';
    for (const message of messages) {
      const data = /^data: (.*)$/m.exec(message)?.[1];
      if (data === undefined) continue; // a sign of life
      const state = JSON.parse(data) as Live.LiveState;
      for (const version of state.versions) versions.set(version.version, version);
      const sorted = [...versions.values()].sort((a, b) => a.version - b.version);
      onState({ ...state, versions: sorted, aheadMs: state.at - Date.now() });
    }
  }
}

/** What the open batch on the newest version lacks; undefined if there is none, or if it has enough. */
export function gatheringOf({
  batches,
  state,
  versions,
}: Pick<Live.LiveState, 'batches' | 'state' | 'versions'>): Gathering | undefined {
  const newest = versions.at(-1)?.version;
  const open = batches.find(({ status, version }) => status === 'filling' && version === newest);
  const isShort = open !== undefined && open.accepted < open.minimum;
  if (!isShort || newest === undefined || state !== 'running') return undefined;
  return { have: open.accepted, least: open.minimum, version: newest + 1 };
}
