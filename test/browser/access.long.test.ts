/** Every page in both themes, before and after it was used, under axe-core. */
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { TestPages } from '@basa/testkit/browser/test-pages.ts';
import axe, { type AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';

let pages: TestPages;
let browser: Browser;

beforeAll(async () => {
  [pages, browser] = await Promise.all([TestPages.open(), launchChromium()]);
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
});

/** The actions of a person on a page, so that all of it can be seen. */
const USES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  '/': async (page) => {
    await page.click('#internals > summary');
    await page.click('#batches-line');
    await page.click('#operator summary');
    await page.focus('[data-word="version"]');
    await page.waitForSelector('.explained:visible');
  },
  '/join.html': async (page) => {
    await page.click('#own summary');
    await page.click('#join'); // there is no token to be had
    await page.waitForSelector('#device-error:visible');
  },
  '/play.html': async (page) => {
    await page.fill('#speed', '60');
    await page.waitForFunction(() => document.querySelector('#verdict')?.textContent?.startsWith('After'));
    await page.click('#run');
  },
  '/sees.html': async (page) => {
    await page.waitForSelector('#sum-card:visible');
    await page.click('#play-attacks');
    await page.waitForSelector('.attack');
    await page.click('.attack:first-child summary');
  },
};

async function findings(page: Page): Promise<readonly string[]> {
  const { violations } = await page.evaluate(() =>
    (globalThis as unknown as { axe: { run(): Promise<AxeResults> } }).axe.run(),
  );
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${impact}, ${html} ${any[0]?.message ?? ''}`),
  );
}

for (const colorScheme of ['light', 'dark'] as const) {
  it(`nothing is found on any page in the ${colorScheme} theme`, async () => {
    for (const [path, use] of Object.entries(USES)) {
      const context = await browser.newContext({ colorScheme, reducedMotion: 'reduce' });
      context.setDefaultTimeout(0);
      await context.addInitScript(axe.source);
      const page = await context.newPage();
      await page.goto(pages.url + path);
      await page.waitForLoadState('load');
      expect([path, await findings(page)]).toEqual([path, []]);
      await use(page);
      expect([path, 'used', await findings(page)]).toEqual([path, 'used', []]);
      await context.close();
    }
  });
}

it('the checker finds a picture without a name, and text that nobody can read', async () => {
  const page = await browser.newPage();
  await page.addInitScript(axe.source);
  await page.goto(pages.url);
  await page.evaluate(() => {
    document.body.insertAdjacentHTML('beforeend', '<img src="/icon.svg">');
    const pale = document.body.appendChild(document.createElement('p'));
    pale.textContent = 'pale';
    pale.style.color = '#eee';
  });
  const found = (await findings(page)).map((finding) => finding.split(':')[0]);
  expect(found).toEqual(expect.arrayContaining(['image-alt', 'color-contrast']));
  await page.close();
});
