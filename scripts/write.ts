/** `npm run write -- <name>`: writes anew what is generated. All but the pages is committed, and a test or the gate holds it current. */
import { runNamed } from '@basa/testkit/programs/named.ts';

await runNamed('write', {
  vectors: {
    about: 'conformance/vectors/*.json; a changed vector is a changed protocol',
    program: at('write-vectors.ts'),
    isPlain: true,
  },
  openapi: {
    about: 'docs/openapi, from what the services say of themselves',
    program: at('write-openapi.ts'),
    isPlain: true,
  },
  reference: {
    about: 'docs/reference, from --help, configuration, refusals and routes',
    program: at('write-reference.ts'),
    isPlain: true,
  },
  api: { about: 'docs/api: the public interface of every package', program: at('write-api.ts'), isPlain: true },
  metrics: { about: 'docs/metrics.md, from the table of metrics', program: at('write-metrics.ts'), isPlain: true },
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
