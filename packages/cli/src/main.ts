#!/usr/bin/env node
/** The process `basa`. */
import { runCli } from './basa.ts';
import { EXIT_CODE } from './shell/command.ts';
import { programName } from './shell/invocation.ts';
import { startersOf, whenGone } from './shell/starters.ts';

/** In order, as after Ctrl-C: whatever was started is stopped. */
const stop = (): boolean => process.kill(process.pid, 'SIGTERM');

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

const [, script = '', ...args] = process.argv;
const program = programName({ script, folder: process.cwd(), environment: process.env });
const code = await runCli(args, process.env, { stdout: process.stdout, stderr }, program);
process.exitCode = isUnheard && code === EXIT_CODE.interrupted ? EXIT_CODE.unheard : code;
