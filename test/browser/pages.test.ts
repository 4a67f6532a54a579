/** The pages that show: a live federation, the paper in virtual time, and what a server sees of a batch. */

import { ATTACKS } from '@basa/simulator/attacks';
import { Conduct, launchChromium } from '@basa/testkit/browser/chromium.ts';
import { BUFFER_SIZE, TestPages, wholeUpdate } from '@basa/testkit/browser/test-pages.ts';
import { elsewhere, type Issuer, startIssuer } from '@basa/testkit/services/issuer.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

/** As often as the page looks at the log. */
const LOOK_MS = 3_000;
const FOR_LONG = { timeout: 600_000, interval: 50 };
let issuer: Issuer;
let pages: TestPages;
let browser: Browser;
let context: BrowserContext;
let conduct: Conduct;

beforeAll(async () => {
  issuer = await startIssuer({ aud: 'basa', groups: ['operators'] });
  const oidc = {
    issuer: issuer.url,
    audience: 'basa',
    clientId: 'page',
    rolesClaim: 'groups',
    origins: [elsewhere(issuer.url)],
  };
  [pages, browser] = await Promise.all([
    TestPages.open({ oidc: { ...oidc, roles: { operators: ['operator'] } } }),
    launchChromium(),
  ]);
  conduct = new Conduct(pages.url, pages.processes.urls.authority);
  context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(0);
});
afterAll(async () => {
  await browser?.close();
  await pages?.close();
  await issuer?.close();
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(pages.url + path);
  return page;
}

const shows = (page: Page, selector: string) => expect.poll(() => page.textContent(selector), FOR_LONG);

it('a batch fills and its sum becomes a version while the page looks on', async () => {
  const page = await open('/');
  await shows(page, '#version').toBe('0');
  await shows(page, '#noise-kind').toBe('none');
  await shows(page, '#noise').toMatch(/^Sums have no noise: /);
  await shows(page, '#authority-status').toBe('1 of 1 authorities answer, 1 needed');
  await shows(page, '#batches-line').toBe('No batch is open');
  await shows(page, '#working').toBe('It is waiting for devices: none is training for version 1.');
  await page.click('#internals > summary');
  await page.click('#batches-line');
  for (let n = 0; n < BUFFER_SIZE; n++) {
    const client = await pages.client(`device-${n}`);
    const update = wholeUpdate(pages.processes.policy.dimension, n);
    await client.contribute(update, { trainedOn: (await client.model()).version });
    if (n < BUFFER_SIZE - 1) {
      await expect.poll(() => page.locator('#living progress').getAttribute('value'), FOR_LONG).toBe(String(n + 1));
      const missing = n + 1 < BUFFER_SIZE - 1 ? `${BUFFER_SIZE - n - 1} more devices` : '1 more device';
      await shows(page, '#working').toContain(
        `${n + 1} of at least ${BUFFER_SIZE} updates for version 1; ${missing} needed`,
      );
      await shows(page, '#batches-line').toBe(`1 open batch, with ${n + 1} of ${BUFFER_SIZE} updates`);
    }
  }
  await shows(page, '#version').toBe('1');
  await shows(page, '#accuracy').toMatch(/^\d+\.\d %$/);
  await shows(page, '#updates').toBe(String(BUFFER_SIZE));
  await shows(page, '#summary').toMatch(/is at version 1 with an accuracy of/);
  await shows(page, '#ended .batch .status').toBe(`the sum is in the model · ${BUFFER_SIZE} of ${BUFFER_SIZE} uploads`);
  await shows(page, '#step-ms').toMatch(/upload.*× 3/);
  await shows(page, '#mean-age').toBe('0.0');
  await shows(page, '#ages').toMatch(/version 10\.00/);
  await shows(page, '#let-in').toMatch(new RegExp(`^Devices let in: ${BUFFER_SIZE} at 127\\.0\\.0\\.1:\\d+$`));
  await shows(page, '#target').toBe('Target 99.0 %. The task ends at the target.');
  await page.close();
});

it("the operator's own scores are drawn under their name, while the page looks on", async () => {
  const page = await context.newPage();
  // As if the server had no test set.
  await page.route('**/events', async (route) => {
    const evaluation = { name: 'f1', score: 0.83456 };
    const admission = { places: 1, used: 0, underWay: 0, waiting: 0, waitingBatches: 0 };
    const state = {
      ...{ at: 9e12, startedAt: 0, task: 'x', name: 'letters', mode: 'one-shot', state: 'running', stop: {} },
      ...{ batches: [], admission, refusals: {}, fetches: [] },
      steps: Object.fromEntries(['model', 'upload'].map((name) => [name, { answers: 0, ms: 0, received: 0, sent: 0 }])),
      versions: [0, 1].map((version) => ({ version, at: version * 1000, accepted: 1, dropped: 0, evaluation })),
    };
    await route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(state)}\n\n` });
  });
  await page.goto(pages.url);
  await shows(page, '#accuracy').toBe('0.8346');
  await shows(page, '#score-name').toBe('F1');
  await shows(page, '#accuracy-plot .u-legend').toMatch(/f1.*0\.835/);
  await page.close();
});

it('after a restart of the server the page continues, and shows versions and batches as before', async () => {
  const page = await open('/');
  await page.click('#internals > summary');
  await page.click('#batches-line');
  await shows(page, '#version').toBe('1');
  const lasting = () => Promise.all(['#accuracy', '#updates', '#mean-age', '#ended'].map((id) => page.textContent(id)));
  await shows(page, '#ended').toContain('sum is in the model');
  const before = await lasting();
  await pages.processes.stop('server');
  await page.waitForSelector('#link:visible');
  await pages.processes.start('server');
  await page.waitForSelector('#link', { state: 'hidden' });
  await shows(page, '#step-ms').toBe('no requests since then');
  expect(await lasting()).toEqual(before);
  await page.close();
});

it('the page is at most 1,500 pixels high on a phone, with its internals folded away', async () => {
  const page = await open('/');
  await page.setViewportSize({ width: 390, height: 844 });
  await shows(page, '#version').toBe('1');
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThanOrEqual(1500);
  expect(await page.locator('#batches-line').isVisible()).toBe(false);
  await page.close();
});

it('all tasks of the server are listed with their states, and each of them is one click away', async () => {
  const page = await context.newPage();
  const other = { task: 'ab'.repeat(32), name: 'letters', state: 'paused', version: 7 };
  await page.route('**/v1/tasks', async (route) => {
    const { tasks } = (await (await route.fetch()).json()) as { readonly tasks: readonly object[] };
    await route.fulfill({ json: { tasks: [{ ...tasks[0], ...other }, ...tasks] } });
  });
  await page.goto(pages.url);
  await page.click('#all-tasks summary');
  await shows(page, '#tasks').toBe('letters: paused, version 7MNIST: running, version 1');
  await page.click('#tasks a:text-is("letters")');
  await expect.poll(() => new URL(page.url()).hash, FOR_LONG).toContain(other.task);
  await page.close();
});

it('the pictures of an update on Join lie on the ground of the page, also in the dark', async () => {
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await browser.newPage({ colorScheme });
    await page.goto(`${pages.url}/join.html`);
    const corner = () =>
      page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('#floats');
        return String(canvas?.getContext('2d')?.getImageData(0, 0, 1, 1).data);
      });
    await expect.poll(corner, FOR_LONG).toBe(colorScheme === 'light' ? '255,255,255,255' : '29,33,37,255');
    await page.close();
  }
});

it('an authority with another key, or that does not answer, is reported', async () => {
  const page = await context.newPage();
  await page.clock.install();
  let isDown = false;
  await page.route(`${pages.processes.urls.authority}/v1/authority`, (route) =>
    isDown ? route.abort() : route.fulfill({ json: { publicKey: '00'.repeat(32) } }),
  );
  await page.goto(pages.url);
  const none = '0 of 1 authorities answer, 1 needed: no sum can be opened until another one is back';
  await shows(page, '#authority-status').toBe(none);
  await shows(page, '#authority-states').toContain('has another key than the task names');
  isDown = true;
  await page.clock.fastForward(LOOK_MS);
  await shows(page, '#authority-states').toContain('does not answer');
  await page.close();
});

it('words are explained to the pointer and to the keyboard, and Escape hides that again', async () => {
  const page = await open('/');
  const word = page.locator('[data-word="places"]');
  const explained = page.getByRole('tooltip').filter({ hasText: 'may train at the same time' });
  expect(await explained.isVisible()).toBe(false);
  await word.hover();
  expect(await explained.isVisible()).toBe(true);
  await page.mouse.move(0, 0);
  expect(await explained.isVisible()).toBe(false);
  await word.focus();
  expect(await explained.isVisible()).toBe(true);
  await page.keyboard.press('Escape');
  expect(await explained.isVisible()).toBe(false);
  await page.close();
});

it('an operator logs in, pauses the task and resumes it; a visitor without a token is told so', async () => {
  const page = await open('/');
  await page.click('#operator summary');
  await page.fill('#operator-token', 'guessed');
  await page.click('#login button');
  await shows(page, '#operator-status').toMatch(/^Refused: .*unknown here/);
  await page.fill('#operator-token', pages.processes.token);
  await page.click('#login button');
  await page.click('#switch');
  await shows(page, '#mode').toBe('one-shot mode, paused');
  await shows(page, '#switch').toBe('Resume the task');
  await page.click('#switch');
  await shows(page, '#mode').toBe('one-shot mode, running');
  await page.click('#log-out');
  await page.waitForSelector('#operator-buttons', { state: 'hidden' });
  await page.close();
});

it('an operator signs in at an OpenID provider and pauses the task; its code is in the address no longer', async () => {
  const page = await context.newPage(); // it leaves the services for the provider
  const { task } = pages.processes;
  await page.goto(`${pages.url}/#task=${task}`);
  await page.click('#operator summary');
  await page.click('#sign-in');
  await shows(page, '#operator-status').toBe('logged in');
  expect(page.url()).toBe(`${pages.url}/#task=${task}`);
  await page.click('#switch');
  await shows(page, '#mode').toBe('one-shot mode, paused');
  await page.click('#switch');
  await shows(page, '#mode').toBe('one-shot mode, running');
  // An answer that this page did not ask for is not used.
  await page.click('#log-out');
  await page.waitForSelector('#operator-buttons', { state: 'hidden' });
  await page.goto(`${pages.url}/?code=stolen&state=another`);
  await page.waitForSelector('#sign-in', { state: 'attached' });
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  expect(issuer.asked.filter((path) => path === '/token')).toHaveLength(1);
  await page.close();
});

it('the links between pages keep the pins of a link, but not its token', async () => {
  const { authorityKey, task } = pages.processes;
  const page = await open(`/join.html#${new URLSearchParams({ task, authorityKey, token: 'a-token', rounds: '1' })}`);
  await expect.poll(() => page.inputValue('#token'), FOR_LONG).toBe('a-token');
  expect(page.url()).not.toContain('a-token');
  expect(await page.content()).not.toContain('a-token'); // neither in a link
  for (const name of ['Watch', 'Play the paper', 'What the server sees', 'Join']) {
    await page.click(`nav a[href*="#"]:text-is("${name}")`); // once the script of the page has put the pins there
    await page.waitForSelector(`nav a[aria-current]:text-is("${name}")`);
  }
  const pins = new URLSearchParams(new URL(page.url()).hash.slice(1));
  expect(Object.fromEntries(pins)).toEqual({ task, authorityKey });
  await shows(page, '#pins').toMatch(/^Your link pinned the task/);
  expect(await page.inputValue('#token')).toBe('');
  for (let step = 0; step < 4; step++) {
    await page.goBack();
    expect(page.url()).not.toContain('a-token');
  }
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state]));
  expect(kept).not.toContain('a-token');
  await page.close();
});

it('the paper is played beside one-shot mode, and drop-outs delay only the paper', async () => {
  const page = await open('/play.html');
  await shows(page, '#prices').toMatch(/^Measured in this tab/);
  await page.fill('#dropouts', '20');
  await page.fill('#speed', '60');
  const versions = (lane: string) => page.textContent(`#${lane} .versions`).then(Number);
  await expect.poll(() => versions('paper'), FOR_LONG).toBeGreaterThan(4);
  const [paper, oneShot] = await page.evaluate(() =>
    ['paper', 'oneShot'].map((lane) => Number(document.querySelector(`#${lane} .versions`)?.textContent)),
  );
  expect(oneShot).toBeGreaterThan(2 * (paper as number));
  await shows(page, '#verdict').toMatch(/^After .* made .* versions in one-shot mode .* times as many\./);
  const accuracy = () => page.textContent('#oneShot .accuracy').then((text) => Number.parseFloat(text ?? ''));
  await expect.poll(accuracy, FOR_LONG).toBeGreaterThan(60); // a guess is right one time in ten
  await page.click('#run');
  await shows(page, '#run').toBe('Resume');
  expect(await page.getByRole('slider', { name: 'Drop-outs' }).getAttribute('aria-valuetext')).toBe('20 %');
  await page.close();
});

describe('the page Sees', () => {
  it('shows noise for each upload and an exact sum without a click, and all attacks succeed against the paper’s protocol', async () => {
    const page = await open('/sees.html');
    await shows(page, '#sum-text').toMatch(/exact in every value/);
    await shows(page, '#result').toMatch(/^No\. Every upload looks like pure noise/);
    expect(await page.locator('#uploads li').count()).toBe(10);
    expect(await page.textContent('#evenness')).toMatch(/look like pure noise/);
    await page.click('#play-attacks');
    await shows(page, '#attack-status').toMatch(
      `All ${ATTACKS.length} attacks have run. ${ATTACKS.length} of them succeeded against the paper’s protocol.`,
    );
    expect(await page.locator('.verdict[data-learned="yes"]').count()).toBe(ATTACKS.length);
    await shows(page, '#attack-result').toContain(`${ATTACKS.length} of ${ATTACKS.length} attacks succeed`);
    await page.close();
  });
});

it('all of them can be read by name and reached by keyboard, also on a narrow screen', async () => {
  await context.newPage().then(async (page) => {
    await page.setViewportSize({ width: 360, height: 740 });
    for (const path of ['/', '/join.html', '/play.html', '/sees.html']) {
      await page.goto(pages.url + path);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect([path, wide]).toEqual([path, 360]);
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
      const unnamed = await page.evaluate(() =>
        [...document.querySelectorAll('canvas, input, select, button, [role="img"]')]
          .filter((one) => !one.closest('[aria-label], label') && !one.textContent?.trim())
          .filter((one) => !(one instanceof HTMLInputElement) || one.labels?.length === 0)
          .map((one) => one.outerHTML),
      );
      expect([path, unnamed]).toEqual([path, []]);
    }
    await page.close();
  });
});

it('no page broke a rule: no console error, no violation of the policy, no request to anybody else', () => {
  // Chromium's own messages about a server that restarts, and about a wrong token.
  const others = conduct.faults.filter((fault) => !/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|status of 401/.test(fault));
  expect(others).toEqual([]);
});
