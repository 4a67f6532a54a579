/** Whether a path lies in a folder, however both are written. */
import { isAbsolute, relative, resolve } from 'node:path';

export function isInside(folder: string, path: string): boolean {
  const way = relative(resolve(folder), resolve(path));
  return !way.startsWith('..') && !isAbsolute(way);
}
