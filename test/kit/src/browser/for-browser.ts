/** Bundles a program that was written for Node, with the browser's runtime in place of Node's. */
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const browserRuntime: Plugin = {
  name: 'browser-runtime',
  setup(bundling) {
    bundling.onResolve({ filter: /^@basa\/runtime\/node$/ }, () => ({ path: here('node-runtime-in-browser.ts') }));
    bundling.onResolve({ filter: /^node:crypto$/ }, () => ({ path: here('node-crypto-in-browser.ts') }));
  },
};

export async function bundleForBrowser(entry: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    conditions: ['@basa/source'],
    plugins: [browserRuntime],
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}
