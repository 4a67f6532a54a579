/** Runs a program of commands as this process: it ends with its parent, and in an orderly way if its output is no longer read. */
import type { Streams } from './cli.ts';
import { EXIT_CODE } from './command.ts';
import { startersOf, whenGone } from './starters.ts';

/** Stops in an orderly way, as after Ctrl-C: everything that was started is stopped. */
const stop = (): boolean => process.kill(process.pid, 'SIGTERM');

/** `run` resolves with the exit code. */
export async function runInProcess(run: (streams: Streams) => Promise<number>): Promise<void> {
  /** The reader of the output has gone (`basa ... | head`), or the terminal was closed: then nothing more is written. */
  let isUnheard = false;
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      isUnheard = true;
      if (process.listenerCount('SIGTERM') > 0) stop(); // a command is under way
    });
  /** Standard error, as long as it is read. */
  const stderr = {
    isTTY: process.stderr.isTTY,
    get columns() {
      return process.stderr.columns;
    },
    write: (text: string): unknown => isUnheard || process.stderr.write(text),
  };
  whenGone(startersOf({ ppid: process.ppid, environment: process.env }), stop);
  const code = await run({ stdout: process.stdout, stderr });
  process.exitCode = isUnheard && code === EXIT_CODE.interrupted ? EXIT_CODE.unheard : code;
}
