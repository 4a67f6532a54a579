/** `npm run lab -- outside`: the primitives of every runtime, held to test vectors that others published. */
import { type Command, CommandError, command } from '@basa/cli/internal/shell/command.ts';
import { MissingError } from '@basa/testkit/programs/missing.ts';
import { formatTable } from '../bench/table.ts';
import { hasOutsideFolder, inChromium, inNode, inPython, NO_FOLDER, type SuiteResult } from '../outside/run.ts';

export const outside: Command = command({
  name: 'outside',
  summary: 'run the test vectors of Wycheproof, CCTV, ACVP, zkcrypto and libprio against Node, Chromium and Python',
  flags: {},
  opening: 'checking',
  async run({ terminal }) {
    if (!hasOutsideFolder()) throw new CommandError(NO_FOLDER);
    const results: SuiteResult[] = [];
    try {
      for await (const result of inNode()) results.push(result);
      for await (const result of inChromium()) results.push(result);
      results.push(...inPython());
    } catch (error) {
      throw error instanceof MissingError ? new CommandError(error.message) : error;
    }
    const rows = results.map(({ name, cases, failed, skipped }) => [
      name,
      ...[cases, failed.length, skipped].map(String),
    ]);
    terminal.line(formatTable(['suite', 'cases', 'failed', 'skipped'], rows));
    const all = results.reduce((sum, { cases }) => sum + cases, 0);
    const wrong = results.filter(({ failed }) => failed.length > 0);
    terminal.line(
      `\n${all.toLocaleString('en')} cases, ${wrong.length === 0 ? 'all as published' : 'not all as published'}`,
    );
    for (const { name, failed } of wrong) terminal.line(`${name}: ${failed.slice(0, 20).join(', ')}`);
    const suites = results.map(({ name, cases, failed, skipped }) => ({ name, cases, failed: failed.length, skipped }));
    return { json: { outside: { suites } }, ...(wrong.length > 0 && { exitCode: 1 }) };
  },
});
