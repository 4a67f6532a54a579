/** `npm run lab -- python [--json]`: tests the Python client with its own tests, and in sums with Node devices. */
import { foundPython } from './python.ts';

console.log(foundPython());
const { runAll } = await import('./all-checks.ts');
const ended = await runAll();
if (process.argv.includes('--json')) console.log(JSON.stringify({ python: ended }));
process.exitCode = ended.isGood ? 0 : 1;
