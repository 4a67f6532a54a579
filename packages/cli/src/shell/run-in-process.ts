/** A program of commands as this process: it ends with whoever started it, and in order if nobody reads its words any more. */
import type { Streams } from './cli.ts';
import { EXIT_CODE } from './command.ts';
import { startersOf, whenGone } from './starters.ts';

/** In order, as after Ctrl-C: whatever was started is stopped. */
const stop = (): boolean => process.kill(process.pid, 'SIGTERM');

/** `run` resolves with the exit code. */
export async function runInProcess(run: (streams: Streams) => Promise<number>): Promise<void> {
  /** Whoever read the output has gone (`basa ... | head`), or the terminal was closed: then nothing more is said. */
  let isUnheard = false;
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
      isUnheard = true;
      if (process.listenerCount('SIGTERM') > 0) stop(); // a command is under way
    });
  /** Standard error, as long as somebody hears us. */
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
