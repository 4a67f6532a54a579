/** The pages of the repository: their links lead somewhere, the site lists them, and generated pages can be built. */
import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { GENERATED, pagePaths, readPage } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';
import { expect, it } from 'vitest';
import { REFERENCE } from '../reference/pages.ts';
import { ROUTES_PAGE, withRoutes } from '../reference/routes.ts';
import { addressOf, sidebar, slugify } from '../site/contents.ts';

const written = new Map(pagePaths().map((path) => [path, readPage(path)]));
const generated = new Map(
  await Promise.all(Object.entries(REFERENCE).map(async ([path, page]) => [path, await page()] as const)),
);
const all = new Map([...written, ...generated]);

/** Markdown without code, in which nothing is a link or a heading. */
const prose = (markdown: string): string =>
  markdown.replaceAll(/^```.*?^```$/gms, '').replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ''));

function anchorsOf(markdown: string): ReadonlySet<string> {
  const taken = new Map<string, number>();
  return new Set(
    [...markdown.replaceAll(/^```.*?^```$/gms, '').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => {
      const slug = slugify(heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1'));
      const before = taken.get(slug) ?? 0;
      taken.set(slug, before + 1);
      return before === 0 ? slug : `${slug}-${before}`;
    }),
  );
}

/** Links of a page that lead nowhere, as sentences. Only `pages` may be linked to: git has no generated page, so a written one does not lead there. */
function deadLinks(page: string, text: string, pages: ReadonlyMap<string, string>): readonly string[] {
  return [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [file = '', anchor] = decodeURI(target).split('#');
    const path = file === '' ? page : posix.join(posix.dirname(page), file);
    const linked = pages.get(path);
    if (linked === undefined && (GENERATED.test(path) || !existsSync(join(ROOT, path))))
      return [`${page}: there is no ${path}`];
    const isThere = anchor === undefined || anchorsOf(linked ?? readPage(path)).has(anchor);
    return isThere ? [] : [`${page}: ${path} has no place #${anchor}`];
  });
}

it('every link of a written page leads to a file that is committed, or to a place on a page', () => {
  expect([...written].flatMap(([page, text]) => deadLinks(page, text, written))).toEqual([]);
});

it('every link of a generated page leads to a file, a page or a place on it', () => {
  const pages = [...generated].filter(([page]) => page.endsWith('.md'));
  expect(pages.flatMap(([page, text]) => deadLinks(page, text, all))).toEqual([]);
});

it('a link that leads nowhere is found', () => {
  const text =
    '[a](nothing.md) [b](concepts.md#nowhere) [c](reference/cli.md) `[d](nothing.md)` [e](https://example.org)';
  expect(deadLinks('docs/some.md', text, written)).toEqual([
    'docs/some.md: there is no docs/nothing.md',
    'docs/some.md: docs/concepts.md has no place #nowhere',
    'docs/some.md: there is no docs/reference/cli.md',
  ]);
});

it('every page is in the sidebar of the site', () => {
  const listed = sidebar().flatMap(({ items }) => items.map(({ link }) => link));
  expect([...written.keys()].map(addressOf).filter((address) => !listed.includes(address))).toEqual([]);
});

it.each([
  ['docs/reference/cli.md', '## task create'],
  ['docs/reference/configuration.md', '| `dataFolder` |'],
  ['docs/reference/metrics.md', '| `basa_shots` |'],
  ['docs/reference/refusals.md', '| `version-over` |'],
  ['docs/openapi/authority.json', '"openapi": "3.'],
  ['docs/openapi/server.json', '"openapi": "3.'],
])('%s can be built, and says %s', (path, words) => {
  expect(generated.get(path)).toContain(words);
});

it('docs/http.md shows the routes of both services (`npm run write -- routes` writes them)', async () => {
  const page = readPage(ROUTES_PAGE);
  expect(await withRoutes(page)).toBe(page);
  expect(page.match(/^\| `[A-Z]+ \/v1\//gm)?.length).toBeGreaterThan(30);
});
