/** One page of markdown as HTML: headings with the anchors that GitHub gives them, links as the site has them. */
import { Marked, type Tokens } from 'marked';
import { escapeHtml, highlight } from './highlight.ts';

interface Heading {
  readonly depth: number;
  readonly text: string;
  readonly anchor: string;
}

/** What stands under a heading, for the search. */
export interface Passage extends Heading {
  readonly words: string;
}

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly passages: readonly Passage[];
}

/** Turns an address in the page's markdown into one of the site; undefined where the site has no such thing. */
export type LinkOf = (target: string) => string | undefined;

export function renderPage(markdown: string, linkOf: LinkOf): Rendered {
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const anchorOf = anchors();
  const passages = passagesOf(tokens, anchors());
  marked.use({
    renderer: {
      heading({ tokens: inner, depth, text }) {
        const anchor = anchorOf(plain(text));
        const mark = depth === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="link to this place">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(inner)}${mark}</h${depth}>\n`;
      },
      link({ href, tokens: inner }) {
        const target = linkOf(href);
        const text = this.parser.parseInline(inner);
        return target === undefined
          ? `<span title="${escapeHtml(href)}">${text}</span>`
          : `<a href="${target}">${text}</a>`;
      },
      image({ href, text }) {
        return `<img src="${linkOf(href) ?? ''}" alt="${escapeHtml(text)}">`;
      },
      code({ text, lang = '' }) {
        const [language = ''] = lang.split(' ');
        return `<pre><code>${highlight(text, language)}</code></pre>\n`;
      },
    },
  });
  const html = marked
    .parser(tokens)
    .replaceAll('<table>', '<div class="wide"><table>')
    .replaceAll('</table>', '</table></div>');
  return { title: passages[0]?.text ?? '', html, passages };
}

function passagesOf(
  tokens: readonly { readonly type: string }[],
  anchorOf: (text: string) => string,
): readonly Passage[] {
  const passages: (Heading & { words: string })[] = [];
  for (const token of tokens as readonly Tokens.Generic[]) {
    if (token.type === 'heading') {
      const text = plain(String(token['text']));
      passages.push({ depth: Number(token['depth']), text, anchor: anchorOf(text), words: '' });
    } else {
      const last = passages.at(-1);
      if (last !== undefined) last.words += ` ${plain(token.raw)}`;
    }
  }
  return passages;
}

/** Text without the signs of markdown. */
function plain(markdown: string): string {
  return markdown
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*|]|^#+ |-{3,}/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** GitHub's anchors: small letters, digits, hyphens; a number where one is taken. */
function anchors(): (text: string) => string {
  const taken = new Map<string, number>();
  return (text) => {
    const slug = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const before = taken.get(slug) ?? 0;
    taken.set(slug, before + 1);
    return before === 0 ? slug : `${slug}-${before}`;
  };
}
