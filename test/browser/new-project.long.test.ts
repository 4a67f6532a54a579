/** The browser project of `basa new`, built as its README says: three tabs are three devices, and their sum is opened. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { runCli } from '@basa/cli';
import { toHex } from '@basa/masking';
import { Conduct, FOREIGN, launchChromium } from '@basa/testkit/browser/chromium.ts';
import { TestServices } from '@basa/testkit/services/test-services.ts';
import { OPERATOR_TOKEN } from '@basa/testkit/world/operator.ts';
import { expect, it } from 'vitest';

const TYPES: Readonly<Record<string, string>> = { '.js': 'text/javascript', '.html': 'text/html' };

it('a new project for browsers builds, and three tabs of it are three devices whose sum is opened', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'basa-new-')), 'project');
  const quiet = { write: () => true };
  expect(await runCli(['new', folder, '--template', 'browser'], {}, { stdout: quiet, stderr: quiet })).toBe(0);
  const npm = async (script: string, environment: Readonly<Record<string, string>> = {}): Promise<string> => {
    const env = { ...process.env, NODE_OPTIONS: '', ...environment };
    return (await promisify(execFile)('npm', ['run', '--silent', script], { cwd: folder, env })).stdout;
  };
  await npm('build');
  const site = createServer(async ({ url = '/' }, response) => {
    const name = url === '/' ? 'index.html' : url.slice(1);
    const file = await readFile(join(folder, 'public', name)).catch(() => undefined);
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': TYPES[extname(name)] ?? 'text/plain' });
    response.end(file);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => site.once('listening', resolve));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const corsOrigins = [origin];
  const services = await TestServices.open({ server: { corsOrigins }, authority: { corsOrigins } });
  const browser = await launchChromium();
  try {
    const variables = {
      BASA_SERVER: services.server.url,
      BASA_AUTHORITY: services.authority.url,
      BASA_AUTHORITY_KEY: toHex(services.authority.publicKey),
      BASA_OPERATOR_TOKEN: OPERATOR_TOKEN,
      BASA_AUTHORITY_TOKEN: OPERATOR_TOKEN,
    };
    const task = /^task (\w+)$/m.exec(await npm('create', variables))?.[1] ?? '';
    for (const step of ['tokens', 'enrol']) await npm(step, variables);
    const said = await npm('links', variables);
    const links = [...said.matchAll(/^http:\/\/127\.0\.0\.1:8080\/(#.*)$/gm)].map(([, hash]) => `${origin}/${hash}`);
    expect(links).toHaveLength(3);
    for (const [n, link] of links.entries())
      expect(new URL(link).hash).toMatch(new RegExp(`^#device=${n}&token=[^&]+$`));
    const conduct = new Conduct(origin, services.server.url, services.authority.url);
    const context = await browser.newContext();
    context.setDefaultTimeout(0);
    const pages = await Promise.all(
      links.map(async (link, n) => {
        const page = await context.newPage();
        conduct.watch(page);
        await page.goto(n === 0 ? `${link}&${FOREIGN}` : link);
        return page;
      }),
    );
    for (const page of pages) await page.getByText(/^done$|Error/).waitFor();
    for (const page of pages) expect(await page.locator('main').innerText()).toMatch(/accepted/);
    await services.reached(1, task);
    // The token is no longer in the address, and the next visit needs none.
    expect(pages.map((page) => page.url())).toEqual([0, 1, 2].map((n) => `${origin}/#device=${n}`));
    // A link cannot make a tab another device of the same person.
    const other = await context.newPage();
    await other.goto(`${origin}/#device=3&token=x`);
    await other.getByText(/Open one|Error/).waitFor();
    expect(await other.locator('main').innerText()).toContain('Open one of the links');
    expect(conduct.faults).toEqual([]);
  } finally {
    await browser.close();
    await services.close();
    site.close();
    rmSync(join(folder, '..'), { recursive: true });
  }
});
