/** Tests whether a path is inside a folder, for any spelling of both. */
import { isAbsolute, relative, resolve } from 'node:path';

export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return !way.startsWith('..') && !isAbsolute(way);
}
