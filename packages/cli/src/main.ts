#!/usr/bin/env node
/** The process `basa`. */
import { runCli } from './cli.ts';
import { programName } from './invocation.ts';

/** In order, as after Ctrl-C: whatever was started is stopped. */
const stop = (): boolean => process.kill(process.pid, 'SIGTERM');

// Whoever read our words has gone (`basa ... | head`), or the terminal was closed.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    stop();
  });
// In the clone tsx starts this process, and does not take it along when it is killed or its terminal is closed.
if (process.execArgv.some((arg) => arg.includes('tsx'))) {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, 1000);
  watch.unref();
}

const [, script = '', ...args] = process.argv;
const program = programName({ script, folder: process.cwd(), environment: process.env });
process.exitCode = await runCli(args, process.env, process, program);
