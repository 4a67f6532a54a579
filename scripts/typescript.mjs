// `node --import ./scripts/typescript.mjs program.ts`: Node reads our TypeScript. It does what tsx does, for sources as ours
// are (modules that name each other with .ts), in a third of its processor time: most of what tests do is to start processes.
import * as module from 'node:module';

process.setSourceMapsEnabled(true); // errors name lines of the TypeScript
// Node 26 warns of `register` on standard error; in older versions hooks in the same thread are missing or young.
const isSame = Number.parseInt(process.versions.node, 10) >= 26;
if (isSame) module.registerHooks({ load: (await import('./typescript-hooks.mjs')).loadNow });
else module.register('./typescript-hooks.mjs', import.meta.url);
