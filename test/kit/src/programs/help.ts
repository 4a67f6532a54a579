/** Imported first by programs without options of their own: `--help` prints the comment at their top, and nothing else is done. */
import { commentAtTop } from './comment-at-top.ts';

if (process.argv.includes('--help')) {
  console.log(commentAtTop(process.argv[1] ?? ''));
  process.exit(0);
}
