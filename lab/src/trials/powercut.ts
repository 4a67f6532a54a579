/**
 * Power cuts: a shim records the writes of a process that are not flushed (`unflushed.c`), and with its journal they are undone after the
 * process was killed.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissingError } from '@basa/testkit/programs/missing.ts';

const SOURCE = fileURLToPath(new URL('unflushed.c', import.meta.url));

/** Compiles the shim into the folder. Returns its path. */
function makeShim(folder: string): string {
  if (process.platform !== 'linux') throw new MissingError('it needs Linux (LD_PRELOAD and /proc)');
  const library = join(folder, 'unflushed.so');
  try {
    execFileSync('gcc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl', '-lpthread'], { stdio: 'pipe' });
  } catch (error) {
    const { code, stderr } = error as { readonly code?: string; readonly stderr?: Buffer };
    if (code === 'ENOENT')
      throw new MissingError('there is no gcc; install it (Debian, Ubuntu: apt-get install gcc libc6-dev)');
    throw new MissingError(`gcc says: ${String(stderr).trim()}`);
  }
  return library;
}

/** One life of a process, from its start to the power cut. */
export interface CutLife {
  readonly environment: Readonly<Record<string, string>>;
  /** Removes the data that a dead process had not flushed. Returns the number of removed changes. */
  cut(): number;
}

export class PowerCuts {
  /** Cuts after which something was lost, and how much. */
  readonly counts = { cuts: 0, cutsWithLoss: 0, changesLost: 0 };
  readonly #library: string;
  readonly #folder: string;
  readonly #unit: () => number;
  #lives = 0;

  /** `folder` must be on the same file system as the data of the processes, and outside that data. */
  constructor(folder: string, unit: () => number) {
    mkdirSync(folder, { recursive: true });
    this.#library = makeShim(folder);
    this.#folder = folder;
    this.#unit = unit;
  }

  /** `root` is the data folder of the process. No other process may write to it. */
  life(root: string): CutLife {
    const own = join(this.#folder, String(this.#lives++));
    const [journal, kept] = [join(own, 'journal'), join(own, 'kept')];
    mkdirSync(kept, { recursive: true });
    mkdirSync(root, { recursive: true, mode: 0o700 });
    return {
      environment: {
        LD_PRELOAD: this.#library,
        UV_USE_IO_URING: '0', // what goes to the kernel through a ring passes no function of libc
        BASA_CUT_ROOT: root,
        BASA_CUT_JOURNAL: journal,
        BASA_CUT_KEPT: kept,
      },
      cut: () => {
        if (!existsSync(journal)) throw new Error('a process ran without the shim for power cuts');
        // Every second time all of it, else some of it.
        const isAll = this.#unit() < 0.5;
        const lost = cutPower({ journal, root, kept }, () => (isAll ? 1 : this.#unit()));
        rmSync(own, { recursive: true });
        this.counts.cuts++;
        this.counts.changesLost += lost;
        if (lost > 0) this.counts.cutsWithLoss++;
        return lost;
      },
    };
  }
}

/** A change that may not have reached the disk. `owner`: the inode of the file, or of the folder that holds the name. */
type Change =
  | { readonly kind: 'bytes'; readonly owner: bigint; readonly at: bigint; readonly size: bigint; readonly old: Buffer }
  | { readonly kind: 'made'; readonly owner: bigint; readonly path: string; readonly isFolder: boolean }
  | {
      readonly kind: 'renamed';
      readonly owner: bigint;
      readonly from: string;
      readonly to: string;
      readonly replaced: string;
    }
  | { readonly kind: 'removed'; readonly owner: bigint; readonly path: string; readonly kept: string }
  | { readonly kind: 'folder-removed'; readonly owner: bigint; readonly path: string };

/** The changes of a journal that no flush followed, the first one first. */
function unflushedOf(journal: Buffer): readonly Change[] {
  const changes: (Change | undefined)[] = [];
  let at = 0;
  const take = (length: number): Buffer => {
    at += length;
    return journal.subarray(at - length, at);
  };
  const number = (): bigint => take(8).readBigUInt64LE();
  const bytes = (): Buffer => take(take(4).readUInt32LE());
  const text = (): string => bytes().toString('utf8');
  while (at < journal.length) {
    const kind = take(1).toString('latin1');
    const owner = number();
    if (kind === 'f') {
      const before = Number(number());
      for (let n = 0; n < before; n++) if (changes[n]?.owner === owner) changes[n] = undefined;
      changes.push(undefined);
    } else changes.push(read(kind, owner, { number, bytes, text }));
  }
  return changes.filter((change) => change !== undefined);
}

interface Reader {
  number(): bigint;
  bytes(): Buffer;
  text(): string;
}

function read(kind: string, owner: bigint, { number, bytes, text }: Reader): Change {
  switch (kind) {
    case 'w':
      return { kind: 'bytes', owner, at: number(), size: number(), old: bytes() };
    case 'c':
    case 'm':
      return { kind: 'made', owner, path: text(), isFolder: kind === 'm' };
    case 'r':
      return { kind: 'renamed', owner, from: text(), to: text(), replaced: text() };
    case 'u':
      return { kind: 'removed', owner, path: text(), kept: text() };
    case 'd':
      return { kind: 'folder-removed', owner, path: text() };
    default:
      throw new Error(`the journal of unflushed writes holds a record of kind ${kind}`);
  }
}

/**
 * Some data that was not flushed may still have reached the disk. For each file and folder, `share()` returns the share of its newest
 * changes that is lost, from 0 to 1. Changes of one file reach the disk in order. Changes of different files reach it in any order.
 */
function lostOf(changes: readonly Change[], share: () => number): readonly Change[] {
  const owners = new Map<bigint, Change[]>();
  for (const change of changes) owners.set(change.owner, [...(owners.get(change.owner) ?? []), change]);
  const lost = new Set([...owners.values()].flatMap((own) => own.slice(own.length - Math.round(share() * own.length))));
  return changes.filter((change) => lost.has(change));
}

/** Undoes the changes, the last one first. `folders`: where files are looked for by their inodes. */
function undo(changes: readonly Change[], folders: readonly string[]): void {
  const paths = new Map(folders.flatMap((folder) => filesBelow(folder)));
  const lastFirst = [...changes].reverse();
  // The contents of a file do not depend on its names, and the names still lead to the files that were found.
  for (const change of lastFirst) if (change.kind === 'bytes') restoreBytes(change, paths.get(change.owner));
  for (const change of lastFirst) if (change.kind !== 'bytes') undoName(change);
}

function restoreBytes({ at, size, old }: Extract<Change, { kind: 'bytes' }>, path: string | undefined): void {
  if (path === undefined) return; // its last name is gone, for good
  const file = openSync(path, 'r+');
  try {
    if (old.length > 0) writeSync(file, old, 0, old.length, Number(at));
    ftruncateSync(file, Number(size));
  } finally {
    closeSync(file);
  }
}

/**
 * If the process died between the journal entry and the change, there is nothing to undo. The same is true if the folder of a name was
 * removed with all its names.
 */
function undoName(change: Exclude<Change, { kind: 'bytes' }>): void {
  switch (change.kind) {
    case 'made':
      rmSync(change.path, { force: true, recursive: change.isFolder });
      return;
    case 'renamed':
      if (!isThere(change.from) && isThere(change.to) && isThere(dirname(change.from))) {
        renameSync(change.to, change.from);
        if (change.replaced !== '') renameSync(change.replaced, change.to);
      }
      return;
    case 'removed':
      if (!isThere(change.path) && isThere(dirname(change.path))) renameSync(change.kept, change.path);
      return;
    case 'folder-removed':
      mkdirSync(change.path, { recursive: true, mode: 0o700 });
      return;
  }
}

function isThere(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Of a file, itself. */
function filesBelow(place: string): [bigint, string][] {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() ?? false;
  const paths = isFolder
    ? readdirSync(place, { withFileTypes: true, recursive: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : [place];
  return paths.flatMap((path) => {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found === undefined ? [] : [[found.ino, path] as [bigint, string]];
  });
}

/** Returns how many changes were lost. */
function cutPower(
  { journal, root, kept }: { readonly journal: string; readonly root: string; readonly kept: string },
  share: () => number,
): number {
  const lost = lostOf(unflushedOf(readFileSync(journal)), share);
  const beside = readdirSync(dirname(root)).filter((name) => name.startsWith(`${basename(root)}.`));
  undo(lost, [root, kept, ...beside.map((name) => join(dirname(root), name))]);
  return lost.length;
}
