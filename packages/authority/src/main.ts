/** The process: `node main.js authority.json`, with what the file leaves out in BASA_AUTHORITY_ variables. */
import { runAuthority } from './run-authority.ts';

process.exitCode = await runAuthority({ file: process.argv[2], environment: process.env });
