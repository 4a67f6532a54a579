#!/usr/bin/env node
/** The process `basa`. */
import { runCli } from './basa.ts';
import { programName } from './shell/invocation.ts';
import { runInProcess } from './shell/run-in-process.ts';

const [, script = '', ...args] = process.argv;
const program = programName({ script, folder: process.cwd(), environment: process.env });
await runInProcess((streams) => runCli(args, process.env, streams, program));
