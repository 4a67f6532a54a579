/** The guide to statistics as a reader follows it: each file is saved under its name, and each command is typed. */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { folderOfPrograms, readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf, withNames } from '@basa/testkit/programs/typed.ts';
import { FROM_SOURCE, ROOT } from '@basa/testkit/root.ts';
import { afterAll, expect, it } from 'vitest';

const PAGE = readPage('docs/guides/statistics.md');
const MAIN = join(ROOT, 'packages/cli/src/main.ts');
const folder = folderOfPrograms();
afterAll(() => rmSync(folder, { recursive: true }));

it('leads from nothing to results, and to results of own fields', async () => {
  for (const [language, name] of [
    ['json', 'values.json'],
    ['ts', 'report.ts'],
  ] as const) {
    expect(PAGE).toContain(`ave this as \`${name}\``);
    writeFileSync(join(folder, name), snippetsOf(PAGE, language)[0]?.code ?? '');
  }
  const [first, ...blocks] = snippetsOf(PAGE, 'sh').map(({ code }) => code.trim().split('\n'));
  expect(first).toEqual(['npm run basa -- dev --statistics']);
  const ports = ['--server-port', '0', '--authority-port', '0'];
  const dev = start(['dev', '--statistics', '--devices', '6', '--folder', join(folder, 'dev'), ...ports]);
  try {
    const services = exportsOf(await dev.said('Ctrl-C stops everything'));
    const said: string[] = [];
    for (const line of blocks.flat()) {
      const type = () => typed(withNames(line, said), services);
      const result = /task show/.test(line) ? await shown(type) : await type();
      said.push(result);
    }
    const [reported, ofDevices] = said;
    expect(reported).toContain('accepted');
    expect(ofDevices).toMatch(/battery -?[\d.]+ ± [\d.]+; latencyMs 0\.\.25 /);
    expect(said.slice(-5, -2)).toEqual(['accepted\n', 'accepted\n', 'accepted\n']);
    expect(said.at(-2)).toMatch(/^20\d\d-\d\d-\d\d +3 +0 +minutes -?[\d.]+ ± [\d.]+; country at -?[\d.]+, de /m);
    expect(said.at(-1)).toMatch(/^window,from,to,devices,lost,field,bucket,value,error\r?\n\d+,/);
  } finally {
    dev.child.kill('SIGINT');
    await dev.ended;
  }
});

/** A window has a result when it is over, or when K reports of it have arrived and were summed. */
async function shown(type: () => Promise<string>): Promise<string> {
  for (;;) {
    const text = await type();
    if (text.includes('±')) return text;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

async function typed(line: string, services: Readonly<Record<string, string>>): Promise<string> {
  const env = { ...process.env, ...services };
  if (line.startsWith('curl ')) return (await promisify(execFile)('sh', ['-c', line], { env })).stdout;
  const [, basa] = /^npm run basa -- (.*)$/.exec(line) ?? [];
  const program = line.replace(/^node --import \.\/scripts\/typescript\.mjs --conditions=@basa\/source /, '');
  const words = [...FROM_SOURCE, ...(basa === undefined ? [] : [MAIN]), ...(basa ?? program).split(' ')];
  return (await promisify(execFile)(process.execPath, words, { cwd: folder, env })).stdout;
}
