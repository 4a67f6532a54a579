/** What the site holds, in the order of its navigation. Pages are files of this repository; nothing is copied. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pagePaths } from '@basa/testkit/pages/snippets.ts';
import { ROOT } from '@basa/testkit/root.ts';

export interface Section {
  readonly title: string;
  /** Paths from the root. */
  readonly pages: readonly string[];
}

const SECTIONS: readonly Section[] = [
  { title: 'Start', pages: ['README.md', 'docs/quick-start.md', 'docs/concepts.md'] },
  { title: 'Guides', pages: inFolder('docs/guides') },
  {
    title: 'Running it',
    pages: ['docs/operations.md', 'docs/deploy.md', 'docs/capacity.md', 'docs/cli.md', 'docs/web.md'],
  },
  {
    title: 'Security',
    pages: ['docs/privacy.md', 'docs/threat-model.md', 'docs/evidence.md', 'docs/rules.md', 'SECURITY.md'],
  },
  {
    title: 'Results',
    pages: [
      'docs/results/learning.md',
      'docs/results/experiments.md',
      'docs/results/protocols.md',
      'docs/results/reliability.md',
      'docs/experiments.md',
    ],
  },
  {
    title: 'Reference',
    pages: [
      ...inFolder('docs/reference'),
      'docs/http.md',
      'docs/wire-format.md',
      'docs/conformance.md',
      'docs/metrics.md',
      'docs/paper-map.md',
      'docs/sizes.md',
    ],
  },
  { title: 'Packages', pages: readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/README.md`) },
  { title: 'Interfaces', pages: inFolder('docs/api') },
  { title: 'Project', pages: ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'] },
  { title: 'Decisions', pages: inFolder('docs/decisions') },
];

/** The sections with the pages that exist; a page that nobody listed stands in a last one. */
export function contents(): readonly Section[] {
  const listed = SECTIONS.flatMap(({ pages }) => pages);
  const more = { title: 'More', pages: pagePaths().filter((path) => !listed.includes(path)) };
  return [...SECTIONS, more]
    .map(({ title, pages }) => ({ title, pages: pages.filter((path) => existsSync(join(ROOT, path))) }))
    .filter(({ pages }) => pages.length > 0);
}

/** Where a page lies on the site. */
export function addressOf(page: string): string {
  if (page === 'README.md') return 'index.html';
  const path = page.replace(/^docs\//, '').replace(/\/README\.md$/, '.md');
  return (path.includes('/') ? path : path.toLowerCase()).replace(/\.md$/, '.html');
}

function inFolder(folder: string): readonly string[] {
  return pagePaths().filter((path) => path.startsWith(`${folder}/`));
}
