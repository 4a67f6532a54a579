/** The address of a worker's TypeScript module in a form Node 20 can start: it gives workers no loader of their own. */
export function typescriptWorker(module: URL): URL {
  const loader = import.meta.resolve('tsx/esm/api');
  const source = `import { register } from '${loader}'; register(); await import('${module.href}');`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}
