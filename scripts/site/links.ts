/** Links of our pages on the site: to pages as they are, to files that go with the site, and to the repository for the rest. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { ROOT } from './contents.ts';

/** The parts of markdown-it that are used here: VitePress's own declarations do not compile as strictly as we do. */
interface Token {
  readonly type: string;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}
interface Page {
  readonly tokens: readonly Token[];
  readonly env: { readonly realPath?: string; readonly path?: string };
}
interface Markdown {
  readonly core: { readonly ruler: { push(name: string, rule: (page: Page) => void): void } };
}

/** Paths below docs, from the root, that pages link to and that are not pages. They are copied beside the pages. */
export const linkedFiles = new Set<string>();

/** The address at which the repository can be browsed, such as https://example.org/us/basa; `npm run site` sets it. */
const repository = process.env['BASA_REPOSITORY'];

/** A plugin of markdown-it. Links into the repository become plain text if its address is not known. */
export function repositoryLinks(markdown: Markdown): void {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const folder = dirname(env.realPath ?? env.path ?? ROOT);
    for (const { children } of tokens) {
      for (const [n, token] of (children ?? []).entries()) {
        if (token.type !== 'link_open') continue;
        const target = targetOf(folder, token.attrGet('href') ?? '');
        if (target === undefined) {
          for (const end of [token, children?.slice(n).find(({ type }) => type === 'link_close')])
            if (end !== undefined) Object.assign(end, { type: 'text', content: '' });
        } else {
          token.attrSet('href', target);
          if (linkedFiles.has(target.slice(1))) token.attrSet('target', '_self'); // not a page: VitePress leaves it alone
        }
      }
    }
  });
}

function targetOf(folder: string, href: string): string | undefined {
  if (/^(?:[a-z]+:|#)/.test(href)) return href;
  const [file = '', anchor] = decodeURI(href).split('#');
  const path = relative(ROOT, join(folder, file));
  if (path === 'README.md') return anchor === undefined ? '/' : `/#${anchor}`;
  if (path.endsWith('.md')) return href;
  if (path.startsWith('docs/') && existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isFile()) {
    linkedFiles.add(path);
    return `/${path}`;
  }
  return repository === undefined ? undefined : `${repository}/tree/main/${path}`;
}
