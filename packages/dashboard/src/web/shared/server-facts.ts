/** What a page asks its server first: where the authority is, which tasks there are. */
import type { PageSettings } from '@basa/protocol';
import { SERVER_PATH } from '@basa/protocol';

/** A task as the server describes it (docs/http.md). */
export interface TaskFacts {
  readonly task: string;
  readonly name: string;
  readonly mode: string;
  readonly state: string;
  readonly version?: number;
  readonly accuracy?: number;
  readonly model?: unknown;
  /** What a private task promises each of its devices. */
  readonly privacy?: { readonly epsilon: number; readonly delta: number; readonly participations: number };
}

export interface ServerFacts {
  readonly settings: PageSettings;
  readonly authorityKey: string;
  readonly tasks: readonly TaskFacts[];
}

export async function serverFacts(): Promise<ServerFacts> {
  const [settings, about, listed] = await Promise.all([
    ask<PageSettings>(SERVER_PATH.page),
    ask<{ authorityKey: string }>(SERVER_PATH.about),
    ask<{ tasks: readonly TaskFacts[] }>(SERVER_PATH.tasks),
  ]);
  return { settings, authorityKey: about.authorityKey, tasks: listed.tasks };
}

/** The task that the address names, or the last one that runs. */
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
