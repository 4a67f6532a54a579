/** Tabs of a real Chromium as devices, against real processes: exact sums, once each, whatever is killed in between. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { joinLink } from '@basa/cli/internal/local/pages.ts';
import { toHex } from '@basa/masking';
import { TaskPolicy } from '@basa/protocol/policy';
import { Conduct, heardOf, launchChromium, overhear, overheard, updateOf } from '@basa/testkit/browser/chromium.ts';
import { TestPages, versionOf } from '@basa/testkit/browser/test-pages.ts';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';

/** Only a hang is an error. */
const FOR_LONG = { timeout: 600_000, interval: 50 };
let web: TestPages;
let browser: Browser;
let context: BrowserContext;
let conduct: Conduct;

beforeAll(async () => {
  [web, browser] = await Promise.all([TestPages.open(), launchChromium()]);
  conduct = new Conduct(web.url, web.processes.urls.authority);
  context = await browser.newContext();
  context.setDefaultTimeout(FOR_LONG.timeout);
  await overhear(context);
});
// The last message of a tab tells why it hangs.
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  for (const page of context.pages()) {
    const { news } = await overheard(page);
    const kinds = news.slice(-20).map(({ view, ...one }) => JSON.stringify(one));
    console.error([page.url(), await page.textContent('#device-status'), ...kinds].join('\n'));
  }
  console.error(JSON.stringify(await web.processes.server.task(web.processes.task)));
});
afterAll(async () => {
  await browser?.close();
  await web?.close();
});

async function open(url: string): Promise<Page> {
  const page = await context.newPage();
  conduct.watch(page);
  await page.goto(url);
  return page;
}

it('a tab joins, trains MNIST and contributes beside Node clients: the sum is exact, and all the work was its worker’s', async () => {
  const before = await web.reached(0);
  const page = await open(await web.joinLink());
  // Its sums have no noise: the tab asks, though its link says to join at once.
  await expect.poll(() => page.textContent('#join'), FOR_LONG).toBe('Join without noise');
  expect(await page.textContent('#noise')).toContain('no noise: a server that chooses the model can read');
  expect(await page.isVisible('#exact-note')).toBe(true);
  expect(page.workers()).toEqual([]);
  await page.click('#join');
  await heardOf(page, 'accepted');
  const nodes = await web.contributeFromNode(0);
  const { quantised, masked } = await updateOf(page);
  expect(await web.reached(1)).toEqual(versionOf(before, [quantised, ...nodes]));
  await heardOf(page, 'left');
  expect(await page.evaluate(() => ({ ...document.documentElement.dataset }))).toMatchObject({
    fate: 'included',
    resumed: 'false',
  });

  const trained = (await overheard(page)).news.find(({ kind }) => kind === 'trained');
  expect(trained).toMatchObject({ samples: 400 });
  const isSmall = (word: number): boolean => Math.abs(word | 0) < 2 ** 20;
  expect(quantised.every(isSmall)).toBe(true);
  expect(masked.filter(isSmall).length).toBeLessThan(100); // about one in 2000 by chance

  expect((await overheard(page)).heavyCalls).toEqual([]);
  expect(page.workers()).toEqual([]); // it has left
  const key = await page.evaluate(async () => {
    const [known] = await indexedDB.databases();
    const opened = indexedDB.open(known?.name ?? '');
    await new Promise((resolve) => opened.addEventListener('success', resolve));
    const asked = opened.result.transaction('kept').objectStore('kept').get('identity');
    await new Promise((resolve) => asked.addEventListener('success', resolve));
    const { kind, privateKey } = asked.result as { readonly kind: string; readonly privateKey: CryptoKey };
    opened.result.close();
    return { kind, isExtractable: privateKey.extractable };
  });
  expect(key).toEqual({ kind: 'webcrypto', isExtractable: false });
  await page.close();
});

it('a tab that is killed in mid-upload, with the server restarted meanwhile, counts exactly once and sends the same bytes', async () => {
  const before = await web.reached(1);
  const link = await web.joinLink();
  let pieces = 0;
  await context.route('**/shots/*', async (route) => {
    // The first piece arrives; the second one never does.
    if (route.request().method() === 'PUT' && ++pieces > 1) return;
    await route.continue();
  });
  const killed = await open(link);
  const { quantised } = await updateOf(killed);
  await expect.poll(() => pieces, FOR_LONG).toBeGreaterThan(1);
  const died = killed.waitForEvent('crash');
  const devtools = await context.newCDPSession(killed);
  void devtools.send('Page.crash').catch(() => undefined); // nobody is left to answer
  await died;
  await killed.close();
  await web.processes.stop('server');
  await context.unroute('**/shots/*');
  await web.processes.start('server');

  const back = await open(link);
  await heardOf(back, 'accepted');
  expect((await overheard(back)).news.find(({ kind }) => kind === 'connected')).toMatchObject({ isResuming: true });
  const nodes = await web.contributeFromNode(1);
  expect(await web.reached(2)).toEqual(versionOf(before, [quantised, ...nodes]));
  await heardOf(back, 'left');
  const { news } = await overheard(back);
  // The stored bytes are sent: nothing is masked again.
  expect(news.filter(({ kind }) => kind === 'update')).toEqual([]);
  expect(news.filter(({ kind }) => kind === 'accepted')).toMatchObject([{ isResumed: true }]);
  expect(news.find(({ kind }) => kind === 'fate')).toMatchObject({ fate: 'included' });
  await back.close();
});

/** This many pictures of a stroke, as files. */
async function strokes(page: Page, many: number): Promise<{ name: string; mimeType: string; buffer: Buffer }[]> {
  const url = await page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [90, 120];
    const context = canvas.getContext('2d');
    context?.fillRect(40, 10, 12, 100);
    return canvas.toDataURL('image/png');
  });
  const buffer = Buffer.from(url.split(',')[1] ?? '', 'base64');
  return Array.from({ length: many }, (_, n) => ({ name: `${n}.png`, mimeType: 'image/png', buffer }));
}

it('a device with its own pictures rests on request, while hidden and without network, and then continues', async () => {
  const page = await open((await web.joinLink({ rounds: '9' })).replace('now=', 'later='));
  await page.click('summary');
  await page.selectOption('#label', '1');
  await page.setInputFiles('#pictures', await strokes(page, 6));
  await page.waitForFunction(() =>
    document.querySelector('#picture-count')?.textContent?.includes('6 of your own pictures'),
  );
  await page.click('#join');
  await heardOf(page, 'accepted');
  expect((await overheard(page)).news.find(({ kind }) => kind === 'connected')).toMatchObject({ examples: 6 });
  const last = () => page.evaluate(() => document.documentElement.dataset['device']);
  const hide = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await hide(true);
  await expect.poll(() => page.textContent('#device-status'), FOR_LONG).toMatch(/^paused/);
  await hide(false);
  await page.click('#pause');
  await expect.poll(last, FOR_LONG).toBe('paused');
  await page.click('#pause');
  await context.setOffline(true);
  await expect.poll(() => page.textContent('#device-status'), FOR_LONG).toMatch(/^paused/);
  await context.setOffline(false);
  await web.contributeFromNode(2);
  await heardOf(page, 'fate');
  await page.click('#leave');
  await heardOf(page, 'left');
  await page.close();
});

it('a tab whose link names a task that the server does not have joins no other', async () => {
  const page = await context.newPage();
  const link = await web.joinLink();
  await page.goto(link.replace(web.processes.task, '0'.repeat(64)));
  await expect.poll(() => page.textContent('#no-task'), FOR_LONG).toMatch(/does not have the task in your link/);
  expect(await page.isDisabled('#join')).toBe(true);
  expect(page.workers()).toEqual([]);
  await page.close();
});

it('a tab takes no part in a task that leaves the network to the server', async () => {
  const { authority, authorityKey, policy, server, task: known } = web.processes;
  const openPolicy = { ...policy, manifestHash: new Uint8Array(32) };
  const task = await authority.createTask(openPolicy);
  await server.createTask({ policy: toHex(TaskPolicy.encode(openPolicy)) });
  const [token = ''] = await authority.tokens(task, 1, Date.now() + 3_600_000);
  const { model } = await server.task(known);
  const page = await context.newPage();
  await page.route('**/v1/tasks', async (route) => {
    const answer = await route.fetch();
    const { tasks } = (await answer.json()) as { tasks: object[] };
    await route.fulfill({ response: answer, json: { tasks: tasks.map((one) => ({ ...one, model })) } });
  });
  const rest = new URLSearchParams({ now: '', share: '0', rounds: '1' });
  await page.goto(`${joinLink(web.url, { task, authorityKey, token })}&${rest}`);
  await page.click('#join');
  await heardOf(page, 'failed');
  const { news } = await overheard(page);
  expect(news.at(-1)).toMatchObject({ kind: 'failed', message: expect.stringContaining('does not fix its network') });
  expect((await server.task(task)).batches).toBe(0);
  await page.close();
});

it('a tab without a token asks for one, and joins with a token that the server hands out', async () => {
  const fresh = await browser.newContext(); // this browser has not joined yet
  const page = await fresh.newPage();
  const { task, authorityKey } = web.processes;
  const address = `${web.url}/join.html#${new URLSearchParams({ task, authorityKey, share: '0', rounds: '1' })}`;
  await overhear(fresh);
  await page.route('**/v1/page', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), handsOutTokens: false } });
  });
  const error = page.getByRole('alert').filter({ hasText: 'token' });
  await page.goto(address);
  await expect
    .poll(() => page.textContent('#token-note'), FOR_LONG)
    .toMatch(/^To join, you need a one-time enrolment token/);
  await page.click('#join');
  await expect.poll(() => error.textContent(), FOR_LONG).toMatch(/^To join, you need/);
  expect(page.workers()).toEqual([]);
  await page.fill('#token', 'wrong');
  await page.click('#join');
  await expect.poll(() => error.textContent(), FOR_LONG).toMatch(/^An enrolment token has 64 digits/);
  await page.fill('#token', 'ff'.repeat(32));
  await page.click('#join');
  await expect
    .poll(() => error.textContent(), FOR_LONG)
    .toMatch(/^The enrolment token is unknown.*Ask the application/);
  expect(await page.getAttribute('#token', 'aria-invalid')).toBe('true');

  await page.unroute('**/v1/page');
  await page.reload();
  await expect.poll(() => page.textContent('#token-note'), FOR_LONG).toMatch(/gives a token to every new device/);
  await page.click('#join');
  await expect.poll(() => error.textContent(), FOR_LONG).toMatch(/no tokens left/);
  await web.offerTokens(1);
  await page.click('#join');
  await heardOf(page, 'connected');
  expect(await error.isVisible()).toBe(false);
  await expect.poll(() => page.textContent('#token-note'), FOR_LONG).toMatch(/has joined this task before/);
  await fresh.close();
});

it('before it joins, a page shows an example; on a phone in two rows', async () => {
  const phone = await browser.newContext({ viewport: { width: 390, height: 800 } });
  const page = await phone.newPage();
  await page.goto(`${web.url}/join.html`);
  await expect.poll(() => page.textContent('#update-note'), FOR_LONG).toMatch(/^An example until you join/);
  const rows = () => page.evaluate(() => document.querySelector<HTMLCanvasElement>('#masked')?.height);
  expect(await rows()).toBe(2 * 28 + 1);
  await page.setViewportSize({ width: 1280, height: 800 });
  await expect.poll(rows, FOR_LONG).toBe(28);
  await phone.close();
});

it('pages of another origin are refused by both services', async () => {
  const host = createServer(
    (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>'),
  );
  await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready));
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
  const { server, authority } = web.processes.urls;
  for (const address of [`${server}/v1/tasks`, `${authority}/v1/authority`]) {
    const answer = await page.evaluate(
      (url) =>
        fetch(url).then(
          ({ status }) => status,
          ({ name }) => name as string,
        ),
      address,
    );
    expect(answer).toBe('TypeError');
  }
  const asked = await page.evaluate(
    (url) =>
      fetch(url, { method: 'POST', headers: { 'basa-device': '00' } }).then(String, ({ name }) => name as string),
    `${server}/v1/tasks`,
  );
  expect(asked).toBe('TypeError');
  await page.close();
  host.close();
});

it('no page broke a rule: no console error, no violation of the policy, no request to anybody else', () => {
  // A tab that loses its network says so by itself: those two lines are Chromium's own.
  const others = conduct.faults.filter((fault) => !/ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_REFUSED/.test(fault));
  expect(others).toEqual([]);
});
