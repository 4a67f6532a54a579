// `node --import ./scripts/typescript.mjs program.ts`: Node reads our TypeScript. It does what tsx does, for sources as ours
// are (modules that name each other with .ts), in a third of its processor time: most of what tests do is to start processes.
import { register } from 'node:module';

process.setSourceMapsEnabled(true); // errors name lines of the TypeScript
register('./typescript-hooks.mjs', import.meta.url);
