/** docs/guides/browser-app.md as it is written: its files, its bundle, and a tab of Chromium that takes part. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@basa/service/free-port';
import { FOREIGN, launchChromium } from '@basa/testkit/browser/chromium.ts';
import { readPage, snippetsOf } from '@basa/testkit/pages/snippets.ts';
import { start } from '@basa/testkit/programs/basa-process.ts';
import { exportsOf } from '@basa/testkit/programs/typed.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';

const guide = readPage('docs/guides/browser-app.md');
const [device = '', app = ''] = snippetsOf(guide).map(({ code }) => code);
const [html = ''] = snippetsOf(guide, 'html').map(({ code }) => code);
const [pinning = ''] = snippetsOf(guide, 'sh').flatMap(({ code }) => (code.includes('task.json') ? [code] : []));
const [bundling = ''] = snippetsOf(guide, 'sh').flatMap(({ code }) => /^npx esbuild (.*)$/m.exec(code)?.[1] ?? []);

it('a page of one’s own takes part in a task of `basa dev --cors`, and a link leads it to no other', async () => {
  const origin = `http://localhost:${await freePort()}`;
  const data = mkdtempSync(join(tmpdir(), 'basa-guide-'));
  const ports = ['--server-port', '0', '--authority-port', '0'];
  const dev = start(['dev', '--folder', data, '--devices', '0', '--buffer', '3', '--cors', origin, ...ports]);
  // Below the clone, as the guide says, but not in a place that git watches.
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.guide-'));
  writeFileSync(join(folder, 'device.ts'), device);
  writeFileSync(join(folder, 'app.ts'), app);
  const said = await dev.said('Ctrl-C stops everything');
  const [, link = ''] = /Your page: (\S+)/.exec(said) ?? [];
  expect(new URL(link).hash).toMatch(/^#token=\S+$/);
  const env = { ...process.env, ...exportsOf(said) };
  execFileSync('sh', ['-c', pinning], { cwd: folder, env });
  writeFileSync(
    join(folder, 'public/index.html'),
    html
      .replace('http://127.0.0.1:7800', env['BASA_SERVER'] ?? '')
      .replace('http://127.0.0.1:7801', env['BASA_AUTHORITY'] ?? ''),
  );
  const words = bundling.replace('localhost:8000', new URL(origin).host).split(' ');
  const esbuild = spawn(join(ROOT, 'node_modules/.bin/esbuild'), words, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const browser = await launchChromium();
  try {
    await new Promise<void>((resolve, reject) => {
      esbuild.stderr.on('data', (text: Buffer) => {
        if (text.includes('Local:')) resolve();
      });
      esbuild.once('exit', (code) => reject(new Error(`esbuild ended with ${code}`)));
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(0);
    const faults: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('favicon')) faults.push(message.text());
    });
    await page.goto(`${link}&${FOREIGN}`);
    await page.waitForFunction(() => /done|Error/.test(document.body.innerText));
    const text = await page.evaluate(() => document.body.innerText);
    expect(text).toMatch(/accepted\s+done/);
    expect(page.url()).toBe(`${origin}/`);
    expect(faults.filter((fault) => !fault.includes('404'))).toEqual([]);
  } finally {
    await browser.close();
    esbuild.kill();
    dev.child.kill('SIGINT');
    await dev.ended;
    for (const made of [folder, data]) rmSync(made, { recursive: true, force: true });
  }
});

it('a path is not taken for an origin', async () => {
  const { code, errors } = await start(['dev', '--cors', 'http://localhost:8000/app']).ended;
  expect([code, errors]).toEqual([2, expect.stringContaining('--cors takes an origin such as http://localhost:8000')]);
});
