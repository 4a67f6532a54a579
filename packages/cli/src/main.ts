#!/usr/bin/env node
/** The process `basa`. */
import { runCli } from './cli.ts';

process.exitCode = await runCli(process.argv.slice(2), process.env);
