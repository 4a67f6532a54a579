/** The pages that show: a live federation, the paper in virtual time, and what a server sees of a buffer. */

import { Conduct, launchChromium } from '@basa/testkit/browser/chromium.ts';
import { BUFFER_SIZE, WebStage, wholeUpdate } from '@basa/testkit/browser/web-stage.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const FOR_LONG = { timeout: 600_000, interval: 50 };
let stage: WebStage;
let browser: Browser;
let context: BrowserContext;
let conduct: Conduct;

beforeAll(async () => {
  [stage, browser] = await Promise.all([WebStage.open(), launchChromium()]);
  conduct = new Conduct(stage.url, stage.stage.urls.authority);
  context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(0);
});
afterAll(async () => {
  await browser?.close();
  await stage?.close();
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(stage.url + path);
  return page;
}

const shows = (page: Page, selector: string) => expect.poll(() => page.textContent(selector), FOR_LONG);

it('a buffer fills and its sum becomes a version while the page looks on', async () => {
  const page = await open('/');
  await shows(page, '#version').toBe('0');
  await shows(page, '#log-status').toMatch(/records, signature checked/);
  const head = await page.textContent('#log-heads li:first-child');
  const slots = (status: string) => page.locator(`#living .slot[data-status="${status}"]`).count();
  for (let n = 0; n < BUFFER_SIZE; n++) {
    const client = await stage.client(`device-${n}`);
    const update = wholeUpdate(stage.stage.policy.dimension, n);
    await client.contribute(update, { trainedOn: (await client.model()).version });
    if (n < BUFFER_SIZE - 1) await expect.poll(() => slots('accepted'), FOR_LONG).toBe(n + 1);
  }
  await shows(page, '#version').toBe('1');
  await shows(page, '#accuracy').toMatch(/^\d+\.\d %$/);
  await shows(page, '#updates').toBe(String(BUFFER_SIZE));
  await shows(page, '#summary').toMatch(/is at version 1 with an accuracy of/);
  await shows(page, '#ended .buffer .status').toBe('sum is in the model');
  await shows(page, '#step-ms').toMatch(/upload.*× 3/);
  await shows(page, '#mean-age').toBe('0.0');
  await shows(page, '#ages').toMatch(/version 10\.00/);
  await expect.poll(() => page.textContent('#log-heads li:first-child'), FOR_LONG).not.toBe(head);
  await page.close();
});

it('the paper is played beside sealed mode, and drop-outs hold up the paper alone', async () => {
  const page = await open('/play.html');
  await shows(page, '#prices').toMatch(/^Measured here/);
  await page.fill('#dropouts', '20');
  await page.fill('#speed', '60');
  const versions = (lane: string) => page.textContent(`#${lane} .versions`).then(Number);
  await expect.poll(() => versions('paper'), FOR_LONG).toBeGreaterThan(4);
  const [paper, sealed] = await page.evaluate(() =>
    ['paper', 'sealed'].map((lane) => Number(document.querySelector(`#${lane} .versions`)?.textContent)),
  );
  expect(sealed).toBeGreaterThan(2 * (paper as number));
  await shows(page, '#verdict').toMatch(/^Sealed mode makes/);
  await page.click('#run');
  await shows(page, '#run').toBe('Go on');
  await page.close();
});

describe('what the server sees', () => {
  it('is noise for each upload, and an exact sum; and attacks learn nothing of sealed mode', async () => {
    const page = await open('/sees.html');
    await page.click('#run');
    await shows(page, '#sum-text').toMatch(/exact to the last unit/);
    expect(await page.locator('#uploads li').count()).toBe(10);
    expect(await page.textContent('#evenness')).toMatch(/ p = 0\.\d+/); // `p < 0.000001` where they are not even
    await page.click('#play-attacks');
    await expect.poll(() => page.locator('.verdicts').count(), FOR_LONG).toBeGreaterThan(1);
    expect(await page.locator('.verdict:first-child[data-learned="no"]').count()).toBe(0);
    expect(await page.locator('.verdict:last-child[data-learned="yes"]').count()).toBe(0);
    await page.close();
  });
});

it('all of them can be read by name and reached by keyboard, also on a narrow screen', async () => {
  await context.newPage().then(async (page) => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ['/', '/join.html', '/play.html', '/sees.html']) {
      await page.goto(stage.url + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, wide]).toEqual([path, 360]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll('canvas, input, select, button, [role="img"]')]
          .filter((one) => !one.closest('[aria-label], label') && !one.textContent?.trim())
          .map((one) => one.outerHTML),
      );
      expect([path, unnamed]).toEqual([path, []]);
    }
    await page.close();
  });
});

it('no page broke a rule: no console error, no violation of the policy, no request to anybody else', () => {
  expect(conduct.faults).toEqual([]);
});
