/** The place that created an error: the first frame of its stack that has a file, without Node's own. */
import { fileURLToPath } from 'node:url';

/** `file:line`, or undefined if the stack shows no file. */
export function thrownIn({ stack = '' }: Error): string | undefined {
  for (const line of stack.split('\n')) {
    const [, file, row] = /^\s+at .*?((?:file:\/\/|\/|[A-Z]:\\)[^()]*?):(\d+):\d+\)?$/.exec(line) ?? [];
    if (file !== undefined) return `${file.startsWith('file:') ? fileURLToPath(file) : file}:${row}`;
  }
  return undefined;
}
