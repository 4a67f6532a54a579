/** The sidebar of the site. Pages are files of this repository, named by their path from its root. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Paths by section; a folder stands for its pages that are not listed elsewhere. Some are generated: those that exist are shown. */
const SECTIONS: Readonly<Record<string, readonly string[]>> = {
  Start: ['README.md', 'docs/quick-start.md'],
  Concepts: ['docs/concepts.md', 'docs/paper-map.md', 'docs/experiments.md', 'docs/results'],
  Guides: ['docs/guides', 'clients/python'],
  Operate: [
    ...['operations', 'capacity', 'data-model', 'cli', 'web'].map((name) => `docs/${name}.md`),
    ...['cli', 'configuration', 'metrics'].map((name) => `docs/reference/${name}.md`),
  ],
  Security: ['SECURITY.md', ...['threat-model', 'privacy', 'evidence'].map((name) => `docs/${name}.md`)],
  Wire: ['docs/protocol.md', 'docs/wire-format.md', 'docs/http.md', 'docs/conformance.md', 'docs/reference'],
  Packages: [...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}`), 'docs/api', 'docs/sizes.md'],
  Decisions: ['docs/decisions'],
  Project: ['.', 'docs'],
};

export function sidebar(): { text: string; collapsed: boolean; items: { text: string; link: string }[] }[] {
  const listed = new Set(Object.values(SECTIONS).flat());
  return Object.entries(SECTIONS).map(([text, paths]) => ({
    text,
    collapsed: text !== 'Start',
    items: paths
      .flatMap((path) => (path.endsWith('.md') ? [path] : pagesIn(path).filter((page) => !listed.has(page))))
      .filter((page) => existsSync(join(ROOT, page)))
      .map((page) => ({ text: titleOf(page), link: addressOf(page) })),
  }));
}

/** The address of a page on the site: the repository's paths, except for the README, which is the first page. */
export function addressOf(page: string): string {
  return page === 'README.md' ? '/' : `/${page.replace(/\.md$/, '')}`;
}

/** GitHub's anchors, so that one link works there and on the site. */
export function slugify(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}

function titleOf(page: string): string {
  const [, title = page] = /^##? (.*)$/m.exec(readFileSync(join(ROOT, page), 'utf8')) ?? [];
  return title.replaceAll('`', '').replace(/^API Report File for "(.*)"$/, 'Interface of $1');
}

function pagesIn(folder: string): readonly string[] {
  if (!existsSync(join(ROOT, folder))) return [];
  const names = readdirSync(join(ROOT, folder)).filter((name) => name.endsWith('.md'));
  return names.sort().map((name) => (folder === '.' ? name : `${folder}/${name}`));
}
