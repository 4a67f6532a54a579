/** Runs the given programs one after the other in this process, and prints the output or the failure of each as one JSON object. */
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';

const said: Record<string, { text: string; error?: string }> = {};
const { log } = console;
for (const file of process.argv.slice(2)) {
  const lines: string[] = [];
  console.log = (...values: unknown[]) => void lines.push(format(...values));
  let error: string | undefined;
  try {
    await import(pathToFileURL(file).href);
  } catch (reason) {
    error = format(reason);
  }
  said[file] = { text: lines.join('\n'), ...(error !== undefined && { error }) };
}
log(JSON.stringify(said));
