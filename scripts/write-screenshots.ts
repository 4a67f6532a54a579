/** `npm run write -- screenshots`: the pictures of docs/web.md, taken of a federation at work. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadMnist } from '@basa/cli/internal/data/mnist.ts';
import { startFleet } from '@basa/cli/internal/demo/fleet.ts';
import { startLocalServices } from '@basa/cli/internal/local/local-services.ts';
import { joinLink, writeShares } from '@basa/cli/internal/local/pages.ts';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import type { Browser, Page } from 'playwright-core';

const OUT = fileURLToPath(new URL('../docs/images', import.meta.url));
const WIDE = { width: 1280, height: 800 };

const folder = mkdtempSync(join(tmpdir(), 'basa-screenshots-'));
const ending = new AbortController();
const { train, test } = await loadMnist();
await writeShares(folder, train);
const services = await startLocalServices({ folder, signal: ending.signal });
const browser = await launchChromium();
mkdirSync(OUT, { recursive: true });
try {
  const options = { name: 'MNIST', mode: 'one-shot', bufferSize: 10, devices: 12, dropShare: 0.05, seed: 1 } as const;
  const fleet = await startFleet(services, { ...options, pauseMs: 3000, folder, threads: 1 }, { train, test });
  try {
    await takeAll(browser, fleet.created.task);
  } finally {
    await fleet.stop();
  }
} finally {
  await browser.close();
  await services.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function takeAll(chromium: Browser, task: string): Promise<void> {
  const { serverUrl, authorityKey } = services;
  const tokens = await services.authority.tokens(task, 1, Date.now() + 3_600_000);
  const link = joinLink(serverUrl, { task, authorityKey, token: tokens[0] ?? '' });
  const context = await chromium.newContext({ viewport: WIDE });
  context.setDefaultTimeout(0);
  const page = await context.newPage();

  await page.goto(`${link}&now&share=3`);
  await page.waitForFunction(() => document.documentElement.dataset['fate'] === 'included');
  await page.waitForFunction(() => Number(document.querySelector('#accepted')?.textContent) > 2);
  await take(page, 'join', 'light');

  await page.goto(`${serverUrl}/`);
  await page.click('#batches-line');
  await page.waitForFunction(() => document.querySelectorAll('#ended .batch').length > 2);
  await page.waitForFunction(() => (document.querySelector<HTMLProgressElement>('#living progress')?.value ?? 0) > 3);
  await take(page, 'watch', 'dark');

  await page.goto(`${serverUrl}/play.html`);
  await page.fill('#speed', '60');
  await page.waitForFunction(() => Number(document.querySelector('#paper .versions')?.textContent) > 100);
  await page.click('#run');
  await take(page, 'play', 'light');
}

async function take(page: Page, name: string, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.waitForTimeout(400); // plots follow their place
  await page.screenshot({ path: join(OUT, `${name}-${colorScheme}-wide.png`), fullPage: true });
}
