/** The vectors that Node writes are those that Chromium writes, with its own suite, kernel and pairing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { launchChromium } from '@basa/testkit/browser/chromium.ts';
import { bundleForBrowser } from '@basa/testkit/browser/for-browser.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { VECTOR_FILES } from '@basa/testkit/vectors/all.ts';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';

let browser: Browser;
let page: Page;

beforeAll(async () => {
  const script = await bundleForBrowser(join(ROOT, 'test/kit/src/browser/write-vectors.ts'));
  browser = await launchChromium();
  page = await browser.newPage();
  await page.addScriptTag({ content: script, type: 'module' });
  await page.waitForFunction(() => 'writeVectors' in globalThis);
});
afterAll(() => browser?.close());

it.each(Object.keys(VECTOR_FILES))('vectors/%s', async (name) => {
  const made = await page.evaluate(
    (file) => (globalThis as unknown as { writeVectors(name: string): Promise<string> }).writeVectors(file),
    name,
  );
  const committed = readFileSync(new URL(`../../conformance/vectors/${name}`, import.meta.url), 'utf8');
  const lines = (text: string): readonly string[] => text.split('\n');
  const wrong = lines(made).filter((line, n) => line !== lines(committed)[n]);
  expect(wrong.map((line) => line.slice(0, 200))).toEqual([]);
});
