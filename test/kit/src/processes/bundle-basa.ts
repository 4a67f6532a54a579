/** Bundles `basa` and the programs it starts: from source, each of its processes would load for seconds. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { ROOT } from '../root.ts';
import { bundleFolder, FOR_NODE } from './bundle.ts';

/** The places where modules look for their own programs or workers, relative to `parts`, which contains the modules. */
const ENTRIES = {
  main: 'packages/cli/src/main.ts',
  'parts/fleet-worker': 'packages/cli/src/demo/fleet-worker.ts',
  'parts/mask-worker': 'packages/client/src/node/mask-worker.ts',
  'parts/work/worker': 'packages/server/src/closing/work/worker.ts',
} as const;
const LOOKS_BESIDE_ITSELF = /\/(?:local-services|fleet|masks|opening)\.ts$/;

/** All other modules keep their original location, because their files are there. */
const knowsItsPlace: Plugin = {
  name: 'knows-its-place',
  setup(bundling) {
    bundling.onLoad({ filter: /\/packages\/[^/]+\/src\/.*\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (LOOKS_BESIDE_ITSELF.test(path) || !text.includes('import.meta.url')) return undefined;
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)) };
    });
  },
};

/** Returns the path of the program. It runs without a loader, so it cannot read a user's module in TypeScript. */
export async function bundleBasa(): Promise<string> {
  const folder = bundleFolder('basa');
  await build({
    ...FOR_NODE,
    entryPoints: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(ROOT, path)])),
    outdir: folder,
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    plugins: [knowsItsPlace],
  });
  return join(folder, 'main.js');
}
