/** The documentation as a site: its links lead somewhere, and every page can be reached. */

import { pagePaths } from '@basa/testkit/pages/snippets.ts';
import { beforeAll, expect, it } from 'vitest';
import { buildSite, type Site } from '../site/build.ts';
import { addressOf } from '../site/contents.ts';

let site: Site;
beforeAll(() => {
  site = buildSite();
});

it('every link of every page leads to a file, a page or a place on it', () => {
  expect(site.broken).toEqual([]);
});

it('every page of the repository is on the site, and in its navigation', () => {
  const home = site.texts.get('index.html') ?? '';
  for (const address of pagePaths().map(addressOf)) {
    expect([...site.texts.keys()]).toContain(address);
    expect(home).toContain(`href="${address}"`);
  }
});

it('a written page links to what is there, loads nothing from elsewhere and holds no script of its own', () => {
  const known = new Set([...site.texts.keys(), ...site.files.keys(), 'icon.svg', 'style.css', 'site.js']);
  for (const [address, html] of site.texts) {
    if (!address.endsWith('.html')) continue;
    for (const [, attribute, target = ''] of html.matchAll(/ (href|src)="([^"#][^"#]*)/g)) {
      if (/^https?:/.test(target)) expect(attribute).toBe('href');
      else expect(known, `${address} -> ${target}`).toContain(new URL(target, `file:///${address}`).pathname.slice(1));
    }
    expect(html).not.toMatch(/<script(?! src=)/);
  }
});

it('the search knows every function that a package exports', () => {
  expect(site.texts.get('search.js')).toContain('"api/masking.html#applymasksinplace"');
});
