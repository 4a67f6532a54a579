/** Locates a package's own worker: its compiled module or, inside the repository, its source. */

export interface WorkerModule {
  readonly script: URL;
  readonly execArgv?: readonly string[];
}

/** The module `name` in the folder of the module at `url` (its `import.meta.url`). */
export function workerModule(url: string, name: string): WorkerModule {
  if (!url.endsWith('.ts')) return { script: new URL(`${name}.js`, url) };
  const thread = new URL('../../../../scripts/thread.mjs', import.meta.url).href;
  const source = `import { runThread } from '${thread}'; await runThread('${new URL(`${name}.ts`, url).href}');`;
  return {
    script: new URL(`data:text/javascript,${encodeURIComponent(source)}`),
    execArgv: ['--conditions=@basa/source'],
  };
}
