/** The frame of every page: navigation, search, theme, and what the page holds. */
import { escapeHtml } from './highlight.ts';
import type { Passage } from './render.ts';

export interface Entry {
  readonly title: string;
  readonly address: string;
}

export interface PageFrame extends Entry {
  readonly html: string;
  readonly passages: readonly Passage[];
  readonly navigation: readonly { readonly title: string; readonly pages: readonly Entry[] }[];
}

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'";

export function pageOf({ title, address, html, passages, navigation }: PageFrame): string {
  const up = '../'.repeat(address.split('/').length - 1);
  const link = (page: Entry): string =>
    `<li><a href="${up}${page.address}"${page.address === address ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a></li>`;
  const sections = navigation.map(({ title: name, pages }) => {
    const isOpen = pages.some((page) => page.address === address);
    return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(name)}</summary><ul>${pages.map(link).join('')}</ul></details>`;
  });
  const here = passages.filter(({ depth }) => depth === 2 || depth === 3);
  const places = here.map(
    ({ depth, text, anchor }) => `<li class="depth-${depth}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<title>${escapeHtml(address === 'index.html' ? title : `${title} · BASA`)}</title>
<link rel="icon" href="${up}icon.svg">
<link rel="stylesheet" href="${up}style.css">
<script src="${up}site.js"></script>
</head>
<body data-up="${up}">
<a class="skip" href="#content">to the content</a>
<header>
<button id="menu" type="button" aria-expanded="false" aria-controls="navigation">Menu</button>
<a class="home" href="${up}index.html">BASA</a>
<div class="search"><input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off"><ol id="found" hidden></ol></div>
<button id="theme" type="button" aria-label="switch between light and dark">◐</button>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">${sections.join('')}</nav>
<main id="content">${html}</main>
${places.length > 1 ? `<aside aria-label="On this page"><p>On this page</p><ul>${places.join('')}</ul></aside>` : ''}
</div>
</body>
</html>
`;
}
