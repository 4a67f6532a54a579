/** Compiles the shim that records writes that are not flushed, and starts processes with it. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { cutPower } from './undo.ts';

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
