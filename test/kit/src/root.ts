/** The path of the repository, and the options with which Node runs its sources. */
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The path ends with a slash. */
export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Options of a Node that reads TypeScript, and finds the sources of our packages. */
export const FROM_SOURCE: readonly string[] = [
  '--import',
  new URL('../../../scripts/typescript.mjs', import.meta.url).href,
  '--conditions=@basa/source',
];

/**
 * Options of a Node that runs code with these exports of a module of ours. The module is a bundle, which is kept: it starts in a
 * fraction of the time of its sources.
 */
export function withExports(names: string, module: string, code: string): readonly string[] {
  const [thread, url] = [new URL('../../../scripts/thread.mjs', import.meta.url), pathToFileURL(module)];
  const program = `import { runThread } from '${thread.href}'; const { ${names} } = await runThread('${url.href}'); ${code}`;
  return ['--conditions=@basa/source', '--input-type=module', '-e', program];
}

/** Options of a Node that runs a program of ours as such a bundle; the words for the program follow. */
export function asBundle(program: string): readonly string[] {
  return [...withExports('', program, ''), program];
}
