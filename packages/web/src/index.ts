/** The web pages of BASA as a folder for a server to serve. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Built with the package; from source, by `npm run write -- pages`. Undefined if they were not built. */
export function pagesFolder(): string | undefined {
  const place = import.meta.url.endsWith('.ts') ? '../dist/pages' : './pages';
  const folder = fileURLToPath(new URL(place, import.meta.url));
  return existsSync(folder) ? folder : undefined;
}
