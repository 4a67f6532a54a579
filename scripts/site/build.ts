/** The whole site in memory: text by address, files that go with it, and what is wrong with its links. */
import { readPage } from '@basa/testkit/pages/snippets.ts';
import { repositoryAddress } from '../packages/pack.ts';
import { webAddress } from '../packages/published-manifest.ts';
import { addressOf, contents } from './contents.ts';
import { pageOf } from './layout.ts';
import { destinationOf, fileAddress, hrefFrom } from './links.ts';
import { type Rendered, renderPage } from './render.ts';
import { searchIndex } from './search-index.ts';

export interface Site {
  readonly texts: ReadonlyMap<string, string>;
  /** Paths from the root of the repository by address. */
  readonly files: ReadonlyMap<string, string>;
  /** Links that lead nowhere, as sentences. */
  readonly broken: readonly string[];
}

export function buildSite(): Site {
  const sections = contents();
  const pages = new Set(sections.flatMap((section) => section.pages));
  const files = new Map<string, string>();
  const broken: string[] = [];
  const wanted: { readonly from: string; readonly page: string; readonly anchor: string }[] = [];
  const remote = repositoryAddress();
  const repository = remote === undefined ? undefined : webAddress(remote);

  const linkOf = (page: string, target: string): string | undefined => {
    const destination = destinationOf(page, target, pages);
    switch (destination.kind) {
      case 'away':
        return target;
      case 'page':
        if (destination.anchor !== '') wanted.push({ from: page, ...destination });
        return hrefFrom(addressOf(page), addressOf(destination.page), destination.anchor);
      case 'file':
        files.set(fileAddress(destination.path), destination.path);
        return hrefFrom(addressOf(page), fileAddress(destination.path));
      case 'source':
        return repository === undefined ? undefined : `${repository}/tree/main/${destination.path}`;
      case 'missing':
        broken.push(`${page}: there is no ${destination.path}`);
        return undefined;
    }
  };
  const rendered = new Map<string, Rendered>(
    [...pages].map((page) => [page, renderPage(readPage(page), (target) => linkOf(page, target))]),
  );
  for (const { from, page, anchor } of wanted) {
    const isThere = rendered.get(page)?.passages.some((passage) => passage.anchor === anchor) ?? false;
    if (!isThere) broken.push(`${from}: ${page} has no place #${anchor}`);
  }
  const entryOf = (page: string) => ({ title: rendered.get(page)?.title ?? page, address: addressOf(page) });
  const shortened = (page: string) => ({ ...entryOf(page), title: entryOf(page).title.replace(/^Interface of /, '') });
  const navigation = sections.map(({ title, pages: listed }) => ({ title, pages: listed.map(shortened) }));
  const texts = new Map<string, string>();
  for (const [page, { html, passages }] of rendered)
    texts.set(addressOf(page), pageOf({ ...entryOf(page), html, passages, navigation }));
  texts.set('search.js', searchIndex([...rendered].map(([page, { passages }]) => ({ ...entryOf(page), passages }))));
  return { texts, files, broken };
}
