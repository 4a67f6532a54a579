/** Where a link of a page leads: to a page of the site, a file that goes with it, this repository elsewhere, or away. */
import { existsSync, statSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { ROOT } from '@basa/testkit/root.ts';

export type Destination =
  | { readonly kind: 'away' }
  | { readonly kind: 'page'; readonly page: string; readonly anchor: string }
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'source'; readonly path: string }
  | { readonly kind: 'missing'; readonly path: string };

/** `target` as it stands in the markdown of `page`. */
export function destinationOf(page: string, target: string, pages: ReadonlySet<string>): Destination {
  if (/^[a-z]+:/.test(target)) return { kind: 'away' };
  const [relative = '', anchor = ''] = target.split('#');
  const path =
    relative === '' ? page : posix.normalize(posix.join(dirname(page), decodeURI(relative))).replace(/\/$/, '');
  if (pages.has(path)) return { kind: 'page', page: path, anchor };
  if (!existsSync(join(ROOT, path))) return { kind: 'missing', path };
  const isServed = path.startsWith('docs/') && statSync(join(ROOT, path)).isFile();
  return { kind: isServed ? 'file' : 'source', path };
}

/** From one address of the site to another. */
export function hrefFrom(address: string, destination: string, anchor = ''): string {
  const path = posix.relative(posix.dirname(address), destination);
  return `${path === posix.basename(address) && anchor !== '' ? '' : path}${anchor === '' ? '' : `#${anchor}`}`;
}

/** Where a file of docs lies on the site. */
export function fileAddress(path: string): string {
  return path.replace(/^docs\//, '');
}
