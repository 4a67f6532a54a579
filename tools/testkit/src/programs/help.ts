/** Imported first by programs without options of their own: `--help` prints the comment at their top, and nothing else is done. */
import { readFileSync } from 'node:fs';

if (process.argv.includes('--help')) {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(process.argv[1] ?? '', 'utf8')) ?? [];
  console.log(comment.replaceAll(/^ *\* ?/gm, '').trim());
  process.exit(0);
}
