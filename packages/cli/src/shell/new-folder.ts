import { existsSync } from 'node:fs';

/** The first of name, name-2, name-3 .. that does not exist: an older folder may belong to a device of another task. */
export function newFolder(name: string): string {
  for (let n = 2, folder = name; ; n++) {
    if (!existsSync(folder)) return folder;
    folder = `${name}-${n}`;
  }
}
