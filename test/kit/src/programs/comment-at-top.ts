/** Reads the comment at the top of a program. */
import { readFileSync } from 'node:fs';

export function commentAtTop(path: string): string {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(path, 'utf8')) ?? [];
  return comment.replaceAll(/^ *\* ?/gm, '').trim();
}
