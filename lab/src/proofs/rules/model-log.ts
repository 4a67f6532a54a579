/** The model logs of a task's authorities, with a server that asks each of them for another version, and shows signed ones when it likes. */
import type { Space } from '../explorer/walk.ts';
import { replaced } from './lying-server.ts';
import type { Shape } from './shape.ts';

export type LogRule =
  | 'one hash for a version'
  | 'a version comes of a closed buffer'
  | 'a buffer makes one version'
  | 'a version is the next one'
  | 'only what enough signed is adopted';

/** Version, hash, buffer, and the entry before it, as a text: the statement that authorities sign. */
type Entry = string;

/** What an honest authority has on disk. */
interface Log {
  /** Entries in the order in which they came to be in the log. */
  readonly entries: readonly Entry[];
  /** What it signed for the version after them, and was not shown back yet. */
  readonly signed: Entry;
  /** All that it ever signed. */
  readonly said: readonly Entry[];
}

export interface LogState {
  /** Buffers that enough authorities closed. */
  readonly closed: readonly boolean[];
  readonly logs: readonly Log[];
}

export interface LogOptions extends Pick<Shape, 'authorities' | 'threshold' | 'colluding'> {
  readonly missing?: LogRule | undefined;
}

const BUFFERS = 2;
const VERSIONS = 3;
const HASHES = ['a', 'b'];
const NONE = '';

function entryOf(version: number, hash: string, buffer: number, previous: Entry): Entry {
  return `${version}${hash}${buffer}<${previous}`;
}
function versionOf(entry: Entry): number {
  return entry === NONE ? 0 : Number(entry[0]);
}
function bufferOf(entry: Entry): number {
  return Number(entry[2]);
}

export class ModelLogs implements Space<LogState> {
  readonly #options: LogOptions;

  constructor(options: LogOptions) {
    this.#options = options;
  }

  start(): LogState {
    const { authorities, colluding } = this.#options;
    const logs = Array.from({ length: authorities - colluding }, (): Log => ({ entries: [], signed: NONE, said: [] }));
    return { closed: Array.from({ length: BUFFERS }, () => false), logs };
  }

  nameOf({ closed, logs }: LogState): string {
    const names = logs.map(({ entries, signed, said }) => `${entries.join()}/${signed}/${[...said].sort().join()}`);
    return `${closed.join()}|${names.sort().join(';')}`;
  }

  successors(state: LogState): readonly (readonly [LogState, string])[] {
    const found: (readonly [LogState, string])[] = [];
    for (const [buffer, isClosed] of state.closed.entries())
      if (!isClosed)
        found.push([
          { ...state, closed: replaced(state.closed, buffer, true) },
          `buffer ${buffer} is closed by enough authorities`,
        ]);
    for (const [n, log] of state.logs.entries()) {
      for (const entry of this.#signable(state, log)) {
        const next = { ...log, signed: entry, said: [...log.said, entry] };
        found.push([{ ...state, logs: replaced(state.logs, n, next) }, `authority ${n} signs ${entry}`]);
      }
      for (const entry of this.#shown(state)) {
        if (versionOf(entry) <= versionOf(log.entries.at(-1) ?? NONE)) continue;
        const next = { ...log, entries: [...log.entries, entry], signed: NONE };
        found.push([{ ...state, logs: replaced(state.logs, n, next) }, `authority ${n} logs ${entry}`]);
      }
    }
    return found;
  }

  /** Entries that it signs when the server asks for them, each once. */
  #signable({ closed }: LogState, { entries, signed, said }: Log): readonly Entry[] {
    const { missing } = this.#options;
    const newest = entries.at(-1) ?? NONE;
    const versions = missing === 'a version is the next one' ? [1, 2, 3] : [versionOf(newest) + 1];
    return versions.flatMap((version) =>
      HASHES.flatMap((hash) =>
        closed.flatMap((isClosed, buffer) => {
          const entry = entryOf(version, hash, buffer, newest);
          if (version > VERSIONS || said.includes(entry)) return [];
          if (versionOf(signed) === version && missing !== 'one hash for a version') return [];
          if (!isClosed && missing !== 'a version comes of a closed buffer') return [];
          const isUsed = entries.some((one) => bufferOf(one) === buffer);
          return isUsed && missing !== 'a buffer makes one version' ? [] : [entry];
        }),
      ),
    );
  }

  /** What a server can show: entries that enough authorities signed. */
  #shown(state: LogState): readonly Entry[] {
    const isLoose = this.#options.missing === 'only what enough signed is adopted';
    return isLoose ? [...new Set(state.logs.flatMap(({ said }) => said))] : this.#endorsed(state);
  }

  #endorsed({ logs }: LogState): readonly Entry[] {
    const { threshold, colluding } = this.#options;
    const all = [...new Set(logs.flatMap(({ said }) => said))];
    return all.filter((entry) => logs.filter(({ said }) => said.includes(entry)).length + colluding >= threshold);
  }

  problemOf(state: LogState): string | undefined {
    const endorsed = this.#endorsed(state);
    const versions = new Set(endorsed.map(versionOf));
    if (versions.size < endorsed.length) return 'one version has two entries that enough authorities signed';
    if (endorsed.some((entry) => !state.closed[bufferOf(entry)]))
      return 'a version was made of a buffer that is not closed';
    if (new Set(endorsed.map(bufferOf)).size < endorsed.length) return 'one buffer made two versions';
    const logged = new Map<number, Entry>();
    for (const { entries } of state.logs)
      for (const [n, entry] of entries.entries()) {
        const version = versionOf(entry);
        if ((logged.get(version) ?? entry) !== entry) return `two logs differ at version ${version}`;
        logged.set(version, entry);
        const before = entries[n - 1] ?? NONE;
        if (version <= versionOf(before)) return 'a log went back';
        if (version === versionOf(before) + 1 && !entry.endsWith(`<${before}`))
          return 'a log has another past than its entries say';
      }
    return undefined;
  }

  terminalProblem(): undefined {
    return undefined;
  }
}
