/** `npm run write -- <name>`: writes what is generated. Vectors, kernels and pictures are committed; git ignores the rest. */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('write', {
  vectors: {
    about: 'conformance/vectors/*.json; a changed vector is a changed protocol',
    program: at('write-vectors.ts'),
    isPlain: true,
  },
  refusals: {
    about: 'clients/python/basa/refusals.json, from the table of refusals',
    program: at('write-refusals.ts'),
    isPlain: true,
  },
  layouts: {
    about: 'the layouts in docs/wire-format.md, from the codecs',
    program: at('write-layouts.ts'),
    isPlain: true,
  },
  routes: { about: 'the routes in docs/http.md, from the services', program: at('write-routes.ts'), isPlain: true },
  chart: {
    about: "the schema of the Helm chart's values, and deploy/kubernetes, which is what the chart renders",
    program: at('write-chart.ts'),
    isPlain: true,
  },
  reference: {
    about: 'docs/reference and docs/openapi, from --help, configuration, refusals, metrics and routes',
    program: at('write-reference.ts'),
    isPlain: true,
  },
  api: { about: 'docs/api: the public interfaces of the packages', program: at('write-api.ts'), isPlain: true },
  sizes: { about: 'docs/sizes.md: tarballs and what browsers load', program: at('write-sizes.ts'), isPlain: true },
  wasm: { about: 'the wasm kernels, from packages/runtime/assembly', program: at('write-wasm.ts'), isPlain: true },
  screenshots: { about: 'docs/images: the web pages as pictures', program: at('write-screenshots.ts'), isPlain: true },
  pages: {
    about: 'packages/web/dist/pages: the web pages (not committed)',
    program: at('write-pages.ts'),
    isPlain: true,
  },
});

function at(file: string): URL {
  return new URL(file, import.meta.url);
}
