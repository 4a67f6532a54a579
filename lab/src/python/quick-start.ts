/** The page of the client in Python as a reader follows it, from its program to the score. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startLocalServices } from '@basa/cli/internal/local/local-services.ts';
import { readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { runPython } from './python.ts';

const PAGE = 'clients/python/README.md';
const MAIN = join(ROOT, 'packages/cli/src/main.ts');

/** The share that is right at the end, in percent. */
export async function followQuickStart(): Promise<number> {
  const page = readPage(PAGE);
  const folder = await mkdtemp(join(tmpdir(), 'basa-digits-'));
  const services = await startLocalServices({ folder, signal: new AbortController().signal });
  try {
    const program = join(folder, 'digits.py');
    await writeFile(program, snippetsOf(page, 'python')[0]?.code ?? '');
    const { serverUrl, authorityUrl, authorityKey, operatorToken } = services;
    const variables = {
      BASA_SERVER: serverUrl,
      BASA_AUTHORITY: authorityUrl,
      BASA_AUTHORITY_KEY: authorityKey,
      BASA_OPERATOR_TOKEN: operatorToken,
      BASA_AUTHORITY_TOKEN: operatorToken,
    };
    const step = async (words: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<string> =>
      (await runPython([program, ...words], { ...variables, ...more }, folder)).stdout;
    await step(['network']);
    const env = { ...process.env, ...variables };
    let said = '';
    for (const [, command = ''] of page.matchAll(/npm run basa -- ((?:task create|keys make|keys enroll) .*)/g)) {
      const words = [...FROM_SOURCE, MAIN, ...command.replaceAll("'", '').split(' ')];
      said += (await promisify(execFile)(process.execPath, words, { cwd: folder, env })).stdout;
    }
    const [BASA_TASK = '', ...tokens] = [...said.matchAll(/^(?:task|token) (\S+)$/gm)].map(([, word = '']) => word);
    await Promise.all(
      tokens.map((token, n) => step(['device', String(n)], { BASA_TASK, BASA_ENROLMENT_TOKEN: token })),
    );
    return Number(/: (\d+) % right/.exec(await step(['score'], { BASA_TASK }))?.[1]);
  } finally {
    await services.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
