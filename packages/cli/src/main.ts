#!/usr/bin/env node
/** The process `basa`. */
import { runCli } from './basa.ts';
import { programName, runInProcess } from './shell/process.ts';

const [, script = '', ...args] = process.argv;
const program = programName(script, process.cwd(), process.env);
await runInProcess((streams) => runCli(args, process.env, streams, program));
