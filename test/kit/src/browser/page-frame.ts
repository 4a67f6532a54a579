/** The pages of @basa/web as documents: the content of each page, in the frame that all of them share. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Page {
  readonly file: string;
  readonly address: string;
  /** Its script. */
  readonly script: string;
  readonly title: string;
  /** The text of links to it. */
  readonly link: string;
}

const PAGES: readonly Page[] = [
  { file: 'index.html', address: '/', script: 'watch', title: 'Watch', link: 'Watch' },
  { file: 'join.html', address: '/join.html', script: 'join', title: 'Join from this tab', link: 'Join' },
  { file: 'play.html', address: '/play.html', script: 'play', title: 'Play the paper', link: 'Play the paper' },
  {
    file: 'sees.html',
    address: '/sees.html',
    script: 'sees',
    title: 'What the server sees',
    link: 'What the server sees',
  },
];

/** Writes the documents of all pages into a folder; `site` has the frame and the content of each page. */
export function writeDocuments(site: string, folder: string): void {
  const frame = readFileSync(join(site, 'frame.html'), 'utf8');
  for (const page of PAGES) {
    const parts: Readonly<Record<string, string>> = {
      title: page.title,
      script: page.script,
      links: PAGES.map((other) => linkTo(other, page)).join('\n        '),
      main: readFileSync(join(site, page.file), 'utf8').trimEnd(),
    };
    const document = frame.replaceAll(/\{(title|script|links|main)\}/g, (_, name: string) => parts[name] ?? '');
    writeFileSync(join(folder, page.file), document);
  }
}

function linkTo({ address, link }: Page, current: Page): string {
  return `<li><a href="${address}"${address === current.address ? ' aria-current="page"' : ''}>${link}</a></li>`;
}
