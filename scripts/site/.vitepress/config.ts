/** The documentation as a static site: `npm run site`. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, sidebar, slugify } from '../contents.ts';
import { linkedFiles, repositoryLinks } from '../links.ts';

export default {
  title: 'BASA',
  description: 'Secure aggregation for asynchronous federated learning',
  srcDir: '../..',
  outDir: '../../site',
  cacheDir: '../../node_modules/.cache/vitepress',
  rewrites: { 'README.md': 'index.md' },
  vite: { build: { chunkSizeWarningLimit: 4000 } }, // the search index
  head: [['link', { rel: 'icon', href: '/icon.svg' }]],
  markdown: {
    html: false, // pages are markdown alone; <this> in them is text
    anchor: { slugify },
    config: repositoryLinks,
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Play the paper', link: '/play.html', target: '_self' },
      { text: 'What the server sees', link: '/sees.html', target: '_self' },
    ],
    sidebar: sidebar(),
  },
  buildEnd({ outDir }: { readonly outDir: string }): void {
    for (const file of linkedFiles) {
      mkdirSync(dirname(join(outDir, file)), { recursive: true });
      copyFileSync(join(ROOT, file), join(outDir, file));
    }
  },
};
